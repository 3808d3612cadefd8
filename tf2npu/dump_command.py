"""The group `tf2npu dump`: options in, exit code out. What a subcommand does lives in a module of its own."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from tf2npu.filled_path import FilledPath
from tf2npu.help_page import CommandGroup
from tf2npu.script_words import ScriptCommand

_path = FilledPath(path_type=Path)


@click.group(cls=CommandGroup)
def dump() -> None:
    """Tensors of a run in files: the reference from the original script, and what is in dump files and graph files."""


@dump.command("reference", cls=ScriptCommand)
@click.option("--out", type=_path, required=True, metavar="DIR", help="Where the tensors go.")
@click.option("--steps", metavar="N,N-M", help="Steps of each graph to write, counted from 0.  [default: all]")
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def dump_reference(words: tuple[str, ...], out: Path, steps: str | None) -> None:
    """Run the original SCRIPT, unconverted, on TensorFlow's CPU, and write the tensors of its steps as npy files.

    These options may stand before and after SCRIPT; other words, and all that stand behind --, are its own.
    """
    from tf2npu import reference_command

    raise SystemExit(reference_command.reference(words, out=out, steps=steps))


@dump.command("graph")
@click.argument("graph", type=_path, metavar="FILE.txt")
@click.argument("out", type=_path, metavar="OUT.json")
def dump_graph(graph: Path, out: Path) -> None:
    """Write the graph file FILE.txt as the JSON that comparison programs read, as `atc --mode=5` does."""
    from tf2npu import graph_json_command

    raise SystemExit(graph_json_command.graph_json(graph, out))


@dump.command("npy")
@click.argument("dumped", type=_path, metavar="DUMP")
@click.argument("out", type=_path)
def dump_npy(dumped: Path, out: Path) -> None:
    """Write each tensor of DUMP, a dump file or the folder of a step, as an npy file into OUT."""
    raise SystemExit(_dump_files_command().write_npy(dumped, out))


@dump.command("show")
@click.argument("file", type=_path)
def dump_show(file: Path) -> None:
    """Show what FILE, a dump file or an npy file, holds: shapes, statistics and first elements."""
    raise SystemExit(_dump_files_command().show_file(file))


def _dump_files_command():
    """By its name, as it needs numpy and this must not."""
    return importlib.import_module("tf2npu.dump_files_command")
