"""The command `tf2npu check`: the original script and the migrated one, step by step."""

from __future__ import annotations

import click

from tf2npu.cli.options import PATH, frontend_option, language_option
from tf2npu.cli.script_arguments import ScriptCommand


@click.command(
    cls=ScriptCommand,
    topic="Compare numbers",
    position=1,
    summary="Find out why a migrated script's loss differs.",
    option_groups={
        "What is checked": ("frontend", "modes", "pairs", "steps", "migrated", "is_free", "soc", "budget"),
        "Report": ("out", "report", "language"),
    },
    examples=(
        "tf2npu check train.py",
        "tf2npu check --mode allow_mix_precision --steps 5 train.py --epochs 1",
        "tf2npu check --frontend mindspore train.py",
    ),
)
@frontend_option
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="M",
    help="A precision_mode to look at; repeatable.  [default: the script's and allow_mix_precision]",
)
@click.option("--option", "pairs", multiple=True, metavar="KEY=VALUE", help="A session option of the device runs; repeatable.")
@click.option("--steps", type=click.IntRange(1, 1000), default=3, show_default=True, metavar="N", help="Steps of training.")
@click.option("--out", type=PATH, default="check", show_default=True, metavar="DIR", help="Where check.json and the page go.")
@click.option("--budget", default="10m", show_default=True, metavar="TIME", help="How long it may take: 90s, 10m or 1h.")
@click.option("--migrated", type=PATH, metavar="FILE", help="The migrated script.  [default: SCRIPT is converted for this run]")
@click.option("--free", "is_free", is_flag=True, help="Let the runs go on from their own variables, so that errors add up.")
@click.option("--soc", default="Ascend910A", show_default=True, metavar="NAME", help="Chip of the device runs.")
@click.option("--report", type=PATH, metavar="DIR", help="Put the verdict into the migration report of this folder, too.")
@language_option("Language of text and page.")
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def check(words: tuple[str, ...], **options) -> None:
    """Say why the migrated SCRIPT's loss is not the original's: at which node and line, which cause, what mends it.

    SCRIPT is the original. These options may stand before and after it; other words, and all that stand behind --, are its own.
    Exit code 0: all runs agree; 1: one differs; 3: one failed.
    """
    from tf2npu.commands import check as work
    from tf2npu.launch.check_request import Wanted

    raise SystemExit(work.check(words, Wanted(**options)))
