"""The command `tf2npu scan`: a report without a conversion."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import PATH, selection_options


@click.command(
    cls=HelpPage,
    topic="Migrate",
    position=2,
    summary="Report on a project without converting it.",
    option_groups={
        "What is looked at": (
            "main",
            "exclude",
            "no_gitignore",
            "python2",
            "select",
            "ignore",
            "framework",
            "dialect",
            "distributed",
            "decisions",
        ),
        "Report": ("report_folder", "formats", "language", "baseline", "write_baseline", "volume", "opens", "force"),
        "Speed": ("jobs", "no_cache"),
    },
    examples=(
        "tf2npu scan src",
        "tf2npu scan src --report /path/to/report --format html,md",
    ),
)
@click.argument("src", type=PATH)
@selection_options
def scan(src: Path, **options) -> None:
    """Report on SRC without converting it; writes the report only."""
    from tf2npu.commands import scan as work

    raise SystemExit(work.scan(src, **options))
