"""The command `tf2npu compare`: the tensors of two runs, operator by operator."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import PATH, language_option


@click.command(
    cls=HelpPage,
    topic="Compare numbers",
    position=3,
    summary="Compare the tensors of two runs, operator by operator.",
    option_groups={
        "What is compared": ("graph", "step", "thresholds"),
        "Report": ("out", "header", "output", "language"),
    },
    examples=(
        "tf2npu compare dump reference",
        "tf2npu compare dump reference --step 0 --out comparison",
    ),
)
@click.argument("dump", type=PATH)
@click.argument("reference", type=PATH)
@click.option("--graph", type=PATH, metavar="FILE", help="Graph file of the model, text or JSON.  [default: found by its name]")
@click.option("--out", type=PATH, default=".", metavar="DIR", help="Where the table and the page go.  [default: working folder]")
@click.option("--step", type=click.IntRange(0), metavar="N", help="Compare this step.  [default: the first that both have]")
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="NAME=VALUE",
    help="Limit of a figure in place of the default; repeatable.",
)
@click.option(
    "--header", type=click.Choice(["full", "2020"]), default="full", show_default=True,
    help="Columns of the table; 2020: those of the first releases.",
)  # fmt: skip
@click.option(
    "--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of stdout."
)
@language_option("Language of the page.")
def compare(dump: Path, reference: Path, **options) -> None:
    """Compare the tensors of DUMP, operator by operator, with those of REFERENCE, and say where the difference begins.

    DUMP is the folder of a step, or any above it. REFERENCE has npy files, as `tf2npu dump reference` writes them, or is another
    dump. Exit code 0: all agree; 1: something differs; 3: a file could not be read.
    """
    from tf2npu.commands import compare as work

    raise SystemExit(work.compare(dump, reference, work.Wanted(**options)))
