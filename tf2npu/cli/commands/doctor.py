"""The command `tf2npu doctor`: versions, and what can run here."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import PATH


@click.command(
    cls=HelpPage,
    topic="This machine",
    position=1,
    summary="Say what can run on this machine, and why.",
    examples=(
        "tf2npu doctor",
        "tf2npu doctor --script out/train.py",
    ),
)
@click.option("--script", type=PATH, metavar="FILE", help="Check this script too: imports that come too early, options.")
def doctor(script: Path | None) -> None:
    """Versions, which npu_bridge wins and why, and what can run here."""
    from npu_formats.escape import visible
    from tf2npu.launch import doctor as checks

    click.echo("\n".join(map(visible, checks.lines())))
    if script is not None:
        click.echo("\n".join(map(visible, checks.script_lines(script))))
