"""The command `tf2npu convert`: a project, a script or a notebook, converted into a folder or in place."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import PATH, selection_options, smoke_options


@click.command(
    cls=HelpPage,
    topic="Migrate",
    position=1,
    summary="Convert a project, a script or a notebook, and report on it.",
    option_groups={
        "What is converted": ("main", "exclude", "no_gitignore", "python2", "data", "select", "ignore"),
        "How": ("framework", "dialect", "distributed", "unsafe_fixes", "decisions", "in_place", "force"),
        "Instead of writing": ("diff", "dry_run", "check"),
        "A smoke run": ("smoke", "smoke_seconds"),
        "Report": ("report_folder", "formats", "language", "baseline", "write_baseline", "volume", "opens"),
        "Speed": ("jobs", "no_cache"),
    },
    examples=(
        "tf2npu convert src out",
        "tf2npu convert src --in-place --distributed auto",
    ),
)
@click.argument("src", type=PATH)
@click.argument("out", type=PATH, required=False)
@selection_options
@click.option("--diff", is_flag=True, help="Print what would change as a patch; write nothing into OUT.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing into OUT.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when a file would change.")
@click.option("--in-place", is_flag=True, help="Convert the files of SRC themselves; `tf2npu undo SRC` puts them back.")
@click.option("--unsafe-fixes", is_flag=True, help="Also make the fixes that may change values or shapes.")
@smoke_options("Run the entry scripts for N training steps on made-up data; this executes the project's code.")
@click.option(
    "--data", type=click.Choice(["link", "copy", "skip"]), default="link", show_default=True,
    help="What becomes of files over 10 MB that are no source.",
)  # fmt: skip
def convert(src: Path, out: Path | None, **options) -> None:
    """Convert SRC (a file, a folder, a notebook, or - for stdin to stdout) into OUT, and report on it."""

    from tf2npu.commands import convert as work

    raise SystemExit(work.convert(src, out, **options))
