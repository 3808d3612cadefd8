"""The `dump reference` command: the original script on TensorFlow's CPU, and its tensors in files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from npu_formats.environment import TF2NPU_ALL_SESSIONS, TF2NPU_OPTIONS, TF2NPU_REFERENCE
from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_REPORT_BYTES
from npu_formats.files.directory import Directory
from npu_formats.files.draft import new_name, replacing
from tf2npu.launch.subprocess import adapter_for, adapter_import, chips, orderly_end, refuse_pytorch, run_script
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.languages.language import counted

_SUMMARY = "graphs.json"  # written by npu_bridge._reference
_OTHER = "other"
"""The folder of all graphs but the one that trains."""
_NODES = "nodes.json"  # written by npu_bridge._reference
_LISTING = "reference.json"
"""File in the folder that the user named: the fetches of each graph, and the folders of its steps."""
_NOT_WRITTEN = 3
"""Exit code where files are missing that were asked for."""
_CHIP = "Ascend910A"
"""A chip that there is: `chips` says why nothing can run here, where that is so."""
_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_SHOWN = 60
"""Characters of what a graph asks for in a row; reference.json has all."""


def reference(words: Sequence[str], *, out: Path, steps: str | None) -> int:
    """`tf2npu dump reference`; returns the exit code.  words: the script and its arguments."""
    if not words:
        raise RefusedRequest("name a SCRIPT")
    script, wanted = Path(words[0]), _steps(steps)
    _require_original(script)
    refuse_pytorch("dump reference", script)
    chips(_CHIP)
    with orderly_end(), _scratch(out) as (folder, scratch):
        places = {"out": str(folder.path), "scratch": str(folder.path / scratch)}
        request = json.dumps({"adapter": adapter_for(script), **places, "steps": wanted})
        variables = {TF2NPU_REFERENCE: request, TF2NPU_OPTIONS: "", TF2NPU_ALL_SESSIONS: ""}
        try:
            code = run_script(script, words[1:], [], variables, None)
        finally:
            graphs = _finish(folder, scratch)
    return _tell(graphs, out, script, code)


def _steps(text: str | None) -> list[tuple[int, int]] | None:
    """First and last step of each part, as in `0,5,10-12`; None for all steps.  Raises: RefusedRequest."""
    if text is None:
        return None
    found = []
    for part in re.split(r"[,|]", text):
        match = _PART.fullmatch(part.strip())
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise RefusedRequest(f"--steps {text}: {part!r} is no step and no range of steps: write 0,5 or 0,10-12")
        found.append((int(match[1]), int(match[2] or match[1])))
    return found


def _require_original(script: Path) -> None:
    """Raises: RefusedRequest for a script that is not there or has been migrated; what it does not import is not asked."""
    if not script.is_file():
        raise RefusedRequest(f"{script}: no such file")
    if imported := adapter_import(script):
        raise RefusedRequest(f"{script} imports {imported}: name the script as it was before it was migrated")


@contextmanager
def _scratch(out: Path) -> Iterator[tuple[Directory, str]]:
    """The user's folder, and the name of a new one in it, which goes at the end; beside what is written there is room for it.

    Raises: RefusedRequest for one that cannot be used, and for one that holds something, whose files would mix with ours.
    """
    name = new_name()
    try:
        folder = Directory.given(out.absolute(), make=True)
        is_empty = not folder.names()
        if is_empty:
            folder.new_folder(name, 0o700)
    except OSError as error:
        raise RefusedRequest(f"{error.filename or out}: {error.strerror or error}") from None
    with folder:
        if not is_empty:
            raise RefusedRequest(f"{out}: holds files already: name a new or an empty folder")
        try:
            yield folder, name
        finally:
            folder.remove_tree(name)


def _finish(folder: Directory, scratch: str) -> dict[str, Any]:
    """Move the steps of the graph that trains to where they are looked for, and note what is where; tell what prevents it."""
    try:
        ran: dict[str, Any] = json.loads(folder.read(f"{scratch}/{_SUMMARY}", MOST_REPORT_BYTES))
    except (OSError, ValueError):
        ran = {"graphs": [], "is_broken": False}
    try:
        folder.remove_tree(scratch)  # which makes room for the rest
        _arrange(folder, ran)
    except OSError as error:
        ran["is_broken"] = True
        click.echo(visible(f"tf2npu dump reference: {error.filename or folder.path}: {error.strerror or error}"), err=True)
    return ran


def _arrange(folder: Directory, ran: dict[str, Any]) -> None:
    """Raises: OSError."""
    chosen = _main_graph(ran["graphs"])
    for graph in ran["graphs"]:
        graph["folder"] = "." if graph is chosen else f"{_OTHER}/{graph['number']}"
    if chosen is not None:
        _move_up(folder, f"{_OTHER}/{chosen['number']}")
    if folder.lstat(_OTHER) is not None and not folder.names(_OTHER):
        folder.remove_folder(_OTHER)
    with replacing(folder, _LISTING) as stream:
        stream.write(json.dumps({"graphs": ran["graphs"]}, indent=1).encode())


def _main_graph(graphs: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The graph that trains with the most steps: hooks that fetch more in some steps make further ones."""
    training = [graph for graph in graphs if graph["is_training"]]
    return max(training, key=lambda graph: (graph["runs"], len(graph["steps"])), default=None)


def _move_up(folder: Directory, place: str) -> None:
    if folder.lstat(place) is None:
        return
    for name in folder.names(place):
        if name.isdecimal() or name == _NODES:
            folder.rename(f"{place}/{name}", name)
    folder.remove_tree(place)


def _tell(ran: dict[str, Any], out: Path, script: Path, code: int) -> int:
    graphs = ran["graphs"]
    for graph in graphs:
        click.echo(visible(_line(graph)))
    reasons: dict[str, int] = {}
    for graph in graphs:
        for reason, count in graph["left_out"].items():
            reasons[reason] = reasons.get(reason, 0) + count
    if reasons:
        click.echo("left out: " + ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())))
    n_files, n_bytes = (sum(graph[name] for graph in graphs) for name in ("files", "bytes"))
    click.echo(visible(f"{out}: {counted(n_files, 'tensor')}, {n_bytes / 1e6:.1f} MB"))
    if code:
        click.echo(visible(f"tf2npu dump reference: {script} ended with exit code {code}"), err=True)
    elif not graphs:
        click.echo(
            visible(f"tf2npu dump reference: {script} ran no graph: it made no session, or asked none for anything"), err=True
        )
    elif not any(graph["is_training"] for graph in graphs):
        click.echo("tf2npu dump reference: no graph updates variables as an optimizer does: all are below other", err=True)
    return code or (_NOT_WRITTEN if ran["is_broken"] or not n_files else 0)


def _line(graph: dict[str, Any]) -> str:
    """A row: where, which steps, and what the graph was asked for."""
    asked = graph["function"] or ", ".join([*graph["targets"], *graph["fetches"]])
    asked = asked if len(asked) <= _SHOWN else asked[: _SHOWN - 4] + " ..."
    kind = "training" if graph["is_training"] else "graph"
    written = len(graph["steps"])
    return f"{graph['folder']:<10}  {kind} {graph['number']}: {counted(graph['runs'], 'step')}, {written} written: {asked}"
