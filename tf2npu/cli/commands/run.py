"""The command `tf2npu run`: a migrated script on the simulated device."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.options import PATH, frontend_option, smoke_options
from tf2npu.cli.parameter_types import addresses
from tf2npu.cli.script_arguments import RunCommand


@click.command(
    cls=RunCommand,
    context_settings={"allow_interspersed_args": False},
    topic="Run and tune",
    position=1,
    summary="Run a migrated script on the simulated device.",
    option_groups={
        "What is run": ("module", "frontend", "pairs", "all_sessions", "strict"),
        "Devices": ("devices", "hosts", "rank_table", "engine", "launcher_exec", "soc"),
        "A smoke run": ("smoke", "smoke_seconds"),
        "Report": ("report_folder", "profile_folder"),
    },
    examples=(
        "tf2npu run out/train.py --epochs 1",
        "tf2npu run --devices 2 --report out/tf2npu-report out/train.py",
        "tf2npu run --smoke 5 out/train.py",
    ),
)
@click.option(
    "--devices",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Devices, a process each; with --hosts on each host.",
)
@click.option(
    "--hosts", callback=addresses, metavar="A,B", help="Run on several hosts, A first; each has this folder and this Python."
)
@click.option("--rank-table", metavar="FILE", help="Run the devices that a rank table has on this machine.")
@click.option(
    "--engine", type=click.Choice(["embedded", "mpi"]), help="What moves tensors between ranks.  [default: mpi on several hosts]"
)
@click.option(
    "--launcher-exec", default="ssh", show_default=True, metavar="COMMAND", help="Starts a command on a host, as ssh does."
)
@click.option("--soc", metavar="NAME", help="Chip to simulate.")
@click.option("--option", "pairs", multiple=True, metavar="KEY=VALUE", help="Session option; may be repeated.")
@click.option("--all-sessions", is_flag=True, help="Run every session on the device, also without NpuOptimizer.")
@frontend_option
@click.option("--strict", is_flag=True, help="Refuse what the real package refuses, and runs without the device.")
@click.option(
    "--report", "report_folder", type=PATH, metavar="DIR",
    help="Put the run into this report; or into a file RUN.json, for `tf2npu report --run`.",
)  # fmt: skip
@click.option("--profile", "profile_folder", type=PATH, metavar="DIR", help="Write a profile of the run into a folder below DIR.")
@smoke_options("Train for N steps on made-up data, in a throw-away copy; the script's code is executed.")
@click.option("-m", "module", metavar="MODULE", help="Run a module, as python -m does.")
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def run(words: tuple[str, ...], module: str | None, pairs: tuple[str, ...], report_folder: Path | None, **options) -> None:
    """Run a migrated script on the simulated device. Everything after SCRIPT or -m MODULE is the script's own."""
    from tf2npu.commands import run as work

    raise SystemExit(work.run(list(words), module=module, pairs=pairs, report=report_folder, **options))
