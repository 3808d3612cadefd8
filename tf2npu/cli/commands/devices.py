"""The command `tf2npu devices`: the simulated devices."""

from __future__ import annotations

import click

from tf2npu.cli.help import HelpPage


@click.command(
    cls=HelpPage,
    topic="This machine",
    position=2,
    summary="List the simulated devices.",
    examples=(
        "tf2npu devices",
        "tf2npu run --soc Ascend910B1 out/train.py",
    ),
)
def devices() -> None:
    """The simulated devices, in the manner of npu-smi."""
    from tf2npu.launch import doctor as checks

    click.echo("\n".join(checks.device_lines()))
