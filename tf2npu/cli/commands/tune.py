"""The command `tf2npu tune`: the operators of a script tuned for a chip."""

from __future__ import annotations

import click

from tf2npu.cli.options import json_option
from tf2npu.cli.script_arguments import ScriptCommand


@click.command(
    cls=ScriptCommand,
    topic="Run and tune",
    position=4,
    summary="Tune the operators of a script for a chip.",
    option_groups={
        "What is tuned": ("soc", "mode", "steps", "devices"),
        "Report": ("json_file",),
    },
    examples=(
        "tf2npu tune out/train.py",
        "tf2npu tune --mode RL --steps 1 out/train.py",
    ),
)
@click.option("--soc", default="Ascend910A", show_default=True, metavar="NAME", help="Chip to tune for.")
@click.option(
    "--mode",
    type=click.Choice(["GA", "RL", "RL,GA"]),
    default="RL,GA",
    show_default=True,
    help="GA: products; RL: all else of the AI cores.",
)
@click.option("--steps", type=click.IntRange(1), default=3, show_default=True, metavar="N", help="Steps of training to run.")
@click.option("--devices", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="Devices, a process each.")
@json_option
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def tune(words: tuple[str, ...], **options) -> None:
    """Tune the operators of SCRIPT's training graphs for a chip, and keep what is better in the knowledge bank.

    SCRIPT is migrated, or plain TensorFlow 1 that is converted for this run. It is stopped after --steps steps. The bank is in
    TUNE_BANK_PATH, or else where the vendor's tools have it.
    """

    from tf2npu.commands import tune as work

    raise SystemExit(work.tune(words, **options))
