"""The command `tf2npu predict`: the time of a training step on a chip."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.options import frontend_option, output_options
from tf2npu.cli.parameter_types import DeviceCounts
from tf2npu.cli.script_arguments import ScriptCommand


@click.command(
    cls=ScriptCommand,
    topic="Run and tune",
    position=2,
    summary="Predict the time of a training step on a chip.",
    option_groups={
        "What is predicted": ("frontend", "soc", "steps", "devices", "iterations_per_loop", "precision", "batch", "shapes_only"),
        "Report": ("json_file", "folder", "language"),
    },
    examples=(
        "tf2npu predict train.py",
        "tf2npu predict --soc Ascend910B1 --batch 32 64 --report step train.py",
    ),
)
@frontend_option
@click.option("--soc", default="Ascend910A", show_default=True, metavar="NAME[,NAME]", help="Chips to predict for.")
@click.option("--steps", type=click.IntRange(1), default=3, show_default=True, metavar="N", help="Steps of training to run.")
@click.option(
    "--devices", type=DeviceCounts(), default="1", show_default=True, metavar="N[,N]", help="Numbers of devices, for the scaling."
)
@click.option("--iterations-per-loop", type=click.IntRange(1), metavar="K", help="Steps that a loop on the device does.")
@click.option("--precision", metavar="MODE", help="A precision_mode, such as allow_mix_precision.")
@click.option("--batch", type=click.IntRange(1), multiple=True, metavar="B ...", help="Further batch sizes to predict.")
@click.option("--shapes-only", is_flag=True, help="Compute shapes only, where the numbers do not matter: faster.")
@output_options
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def predict(words: tuple[str, ...], json_file: Path | None, folder: Path | None, language: str, **options) -> None:
    """Predict the time of a training step of SCRIPT on a chip, and say what would make it shorter.

    SCRIPT is migrated, plain TensorFlow that is converted for this run, or for PyTorch. It is stopped after --steps steps. These
    options may stand before and after it; other words, and all that stand behind --, are its own.
    """

    from tf2npu.commands import predict as work

    place = work.Place(json_file, folder, language)
    raise SystemExit(work.predict(words, place=place, **options))
