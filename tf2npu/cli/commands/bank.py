"""The commands `tf2npu bank ...`: tuned operators shown, merged and exported."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import CommandGroup
from tf2npu.cli.options import PATH, json_option


@click.group(
    cls=CommandGroup,
    topic="Run and tune",
    position=5,
    summary="Show, merge or export tuned operators.",
)
def bank() -> None:
    """The knowledge bank of tuned operators: show, merge, export."""


@bank.command(
    "show",
    summary="Show a bank of tuned operators.",
    examples=(
        "tf2npu bank show",
        "tf2npu bank show bank.json --json -",
    ),
)
@click.argument("path", type=PATH, required=False, metavar="[FILE_OR_FOLDER]")
@json_option
def bank_show(path: Path | None, json_file: Path | None) -> None:
    """Show your bank, another one, or a tune_result file."""
    from tf2npu.commands import bank as work

    raise SystemExit(work.show_bank(path, json_file))


@bank.command(
    "merge",
    summary="Put other banks into yours.",
    examples=(
        "tf2npu bank merge other_bank.json",
        "tf2npu bank merge bank_1 bank_2",
    ),
)
@click.argument("paths", type=PATH, nargs=-1, metavar="FILE_OR_FOLDER...")
def bank_merge(paths: tuple[Path, ...]) -> None:
    """Put other banks into yours; of two tilings for one operator the faster one stays."""
    from tf2npu.commands import bank as work

    raise SystemExit(work.merge_banks(paths))


@bank.command(
    "export",
    summary="Put your bank into one file.",
    examples=(
        "tf2npu bank export bank.json",
        "tf2npu bank export shared/bank.json",
    ),
)
@click.argument("out", type=PATH, metavar="OUT")
def bank_export(out: Path) -> None:
    """Put your bank, of all chips, into one file for others."""
    from tf2npu.commands import bank as work

    raise SystemExit(work.export_bank(out))
