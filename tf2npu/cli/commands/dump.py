"""The commands `tf2npu dump ...`: the tensors of a run written into files, and such files read."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import CommandGroup
from tf2npu.cli.options import PATH
from tf2npu.cli.script_arguments import ScriptCommand


@click.group(
    cls=CommandGroup,
    topic="Compare numbers",
    position=2,
    summary="Write tensors of a run into files, and read them.",
)
def dump() -> None:
    """Tensors of a run in files: the reference from the original script, and what is in dump files and graph files."""


@dump.command(
    "reference",
    cls=ScriptCommand,
    summary="Write the tensors of the original script on TensorFlow.",
    examples=(
        "tf2npu dump reference --out reference train.py",
        "tf2npu dump reference --out reference --steps 0,5-9 train.py --epochs 1",
    ),
)
@click.option("--out", type=PATH, required=True, metavar="DIR", help="Where the tensors go.")
@click.option("--steps", metavar="N,N-M", help="Steps of each graph to write, counted from 0.  [default: all]")
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def dump_reference(words: tuple[str, ...], out: Path, steps: str | None) -> None:
    """Run the original SCRIPT, unconverted, on TensorFlow's CPU, and write the tensors of its steps as npy files.

    These options may stand before and after SCRIPT; other words, and all that stand behind --, are its own.
    """

    from tf2npu.commands import dump_reference as work

    raise SystemExit(work.reference(words, out=out, steps=steps))


@dump.command(
    "graph",
    summary="Write a graph file as JSON.",
    examples=(
        "tf2npu dump graph ge_proto_1_Build.txt graph.json",
        "tf2npu dump graph graph.txt graph.json",
    ),
)
@click.argument("graph", type=PATH, metavar="FILE.txt")
@click.argument("out", type=PATH, metavar="OUT.json")
def dump_graph(graph: Path, out: Path) -> None:
    """Write the graph file FILE.txt as the JSON that comparison programs read, as `atc --mode=5` does."""

    from tf2npu.commands import dump_graph as work

    raise SystemExit(work.graph_json(graph, out))


@dump.command(
    "npy",
    summary="Write the tensors of a dump as npy files.",
    examples=(
        "tf2npu dump npy dump/20250101000000/0 arrays",
        "tf2npu dump npy dump/MatMul.x.1.2.3 arrays",
    ),
)
@click.argument("dumped", type=PATH, metavar="DUMP")
@click.argument("out", type=PATH)
def dump_npy(dumped: Path, out: Path) -> None:
    """Write each tensor of DUMP, a dump file or the folder of a step, as an npy file into OUT."""
    from tf2npu.commands import dump_files as work

    raise SystemExit(work.write_npy(dumped, out))


@dump.command(
    "show",
    summary="Show what a file holds.",
    examples=(
        "tf2npu dump show dump/MatMul.x.1.2.3",
        "tf2npu dump show arrays/loss.npy",
    ),
)
@click.argument("file", type=PATH)
def dump_show(file: Path) -> None:
    """Show what FILE, a dump file or an npy file, holds: shapes, statistics and first elements."""
    from tf2npu.commands import dump_files as work

    raise SystemExit(work.show_file(file))
