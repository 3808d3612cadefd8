"""The command `tf2npu undo`: back to what was before a conversion in place."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import PATH


@click.command(
    cls=HelpPage,
    topic="Migrate",
    position=3,
    summary="Put back what a conversion in place has replaced.",
    examples=(
        "tf2npu undo src",
        "tf2npu undo src/train.py --force",
    ),
)
@click.argument("src", type=PATH, default=".")
@click.option("--force", is_flag=True, help="Also restore files that changed since; they are kept as NAME.tf2npu-backup.")
def undo(src: Path, force: bool) -> None:
    """Put back what the last `convert SRC --in-place` replaced. SRC is that of the conversion, or one file of it."""

    from tf2npu.commands import undo as work

    raise SystemExit(work.run(src, force=force))
