"""The command `tf2npu profile`: the time of a step as a profiler recorded it."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import PATH, output_options


@click.command(
    cls=HelpPage,
    topic="Run and tune",
    position=3,
    summary="Show where the time of a step went.",
    option_groups={
        "What is shown": ("compared",),
        "Report": ("json_file", "folder", "language"),
    },
    examples=(
        "tf2npu profile PROF_1",
        "tf2npu profile --compare PROF_1 PROF_2",
    ),
)
@click.argument("paths", type=PATH, nargs=-1, metavar="PROF_*...")
@click.option("--compare", "compared", type=PATH, nargs=2, metavar="A B", help="Compare two profiles by type of operator.")
@output_options
def profile(
    paths: tuple[Path, ...], compared: tuple[Path, Path] | None, json_file: Path | None, folder: Path | None, language: str
) -> None:
    """Show what a profiler recorded, here or on a real host: where the time of a step went, operator by operator.

    The JSON of an earlier prediction or profile does as well, so that the two can be compared.
    """
    from tf2npu.commands import predict

    raise SystemExit(predict.profile(paths, compared, predict.Place(json_file, folder, language)))
