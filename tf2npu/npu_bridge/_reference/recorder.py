"""The choice and the writing of steps: each graph that a script runs counts its own steps, as the device does."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from npu_bridge._log import once
from npu_bridge._reference.tensor_files import Counts, require_room, write_step
from npu_bridge._reference.watches import TOO_LONG, Tensors, Watches, watches
from npu_bridge._training_requests import executed, trains

from npu_formats.files.directory import Directory
from npu_formats.files.draft import new_name, put_whole, replacing

OTHER = "other"
"""The folder with a folder for each graph. The command moves the steps of the training graph up when the script has ended."""
NODES = "nodes.json"  # read by tf2npu.comparison
"""The nodes that a graph executes, in its folder, so that names which are counted otherwise find each other."""
SUMMARY = "graphs.json"
"""File in the scratch folder that tells the command which graphs were run."""


Watched = Callable[[str, Tensors], Any]
"""watched(url, tensors): run a step whose tensors are written below a URL."""


FUNCTION = "npu_function"
"""Attribute of a graph: the name of the function of TensorFlow 2 whose calls are its steps."""


class Request(NamedTuple):
    """The request of a step; steps of equal requests are those of one graph.  graph: TensorFlow's.  Others: names."""

    graph: Any
    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass
class RanGraph:
    """One graph of the device.

    number: from 1, in the order of first steps.  watches: what of a step the debugger writes.  steps: those that were written.
    nodes: op and inputs by name.
    """

    number: int
    request: Request
    is_training: bool
    watches: Watches
    nodes: Mapping[str, tuple[str, Sequence[str]]]
    n_runs: int = 0
    steps: list[int] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    lock: Any = field(default_factory=threading.RLock)

    def document(self) -> dict[str, Any]:
        feeds, fetches, targets = (list(names) for names in self.request[1:])
        about = {"number": self.number, "is_training": self.is_training, "runs": self.n_runs, "steps": self.steps}
        about["function"] = getattr(self.request.graph, FUNCTION, "")
        return {**about, "feeds": feeds, "fetches": fetches, "targets": targets, **self.counts.document()}


class Recorder:
    """steps: [first, last] pairs, None for all."""

    def __init__(self, out: Path, scratch: Path, steps: Sequence[Sequence[int]] | None) -> None:
        self._out, self._scratch, self._steps = out, scratch, steps
        self._graphs: dict[Request, RanGraph] = {}
        self._lock = threading.Lock()
        self._is_broken = False

    def step(self, request: Request, plain: Callable[[], Any], watched: Watched) -> Any:
        """Run a step and give its results.

        A step that fails is not counted: at the end of its data a script often asks for one more.
        """
        ran = self._graph(request)
        if not self._may_want(ran.n_runs):
            result = plain()
            ran.n_runs += 1
            return result
        with ran.lock:  # threads that run the same graph would write into one folder
            is_wanted = self._is_wanted(ran.n_runs) and self._has_room(ran)
            result = self._watched(ran, watched) if is_wanted else plain()
            ran.n_runs += 1
        return result

    def _graph(self, request: Request) -> RanGraph:
        with self._lock:
            if request not in self._graphs:
                self._graphs[request] = _ran_graph(len(self._graphs) + 1, request, self._scratch)
                self._put_summary()
            return self._graphs[request]

    def _may_want(self, step: int) -> bool:
        return not self._is_broken and (self._steps is None or any(step <= last for _, last in self._steps))

    def _is_wanted(self, step: int) -> bool:
        return not self._is_broken and (self._steps is None or any(first <= step <= last for first, last in self._steps))

    def _has_room(self, ran: RanGraph) -> bool:
        """Whether the disk has room for a step as large as those before."""
        try:
            require_room(self._scratch, ran.counts.n_bytes // max(1, len(ran.steps)))
        except OSError as error:
            self._stop(error)
        return not self._is_broken

    def _stop(self, error: OSError) -> None:
        self._is_broken = True
        place = error.filename or self._out
        once(f"dump reference: {place}: {error.strerror or error}: nothing more is written, the script goes on")

    def _watched(self, ran: RanGraph, watched: Watched) -> Any:
        name = f"graph_{ran.number}"
        try:
            result = watched(f"file://{self._scratch / name}", ran.watches.tensors)
            self._write(ran, self._scratch / name)
        finally:
            with suppress(OSError), Directory.given(self._scratch) as scratch:
                scratch.remove_tree(name)
        return result

    def _write(self, ran: RanGraph, dumped: Path) -> None:
        """Put the step into its folder, whole or not at all; where that fails say so once, and let the script go on."""
        place, draft = f"{OTHER}/{ran.number}", new_name()
        try:
            with Directory.given(self._out) as out, removing(out, f"{place}/{draft}"):
                if not ran.steps:
                    out.make_folders(place)
                    put_whole(out, f"{place}/{NODES}", [json.dumps({"nodes": ran.nodes})])
                with out.inside(f"{place}/{draft}", make=True) as folder:
                    write_step(dumped, folder, ran.counts)
                out.rename(f"{place}/{draft}", f"{place}/{ran.n_runs}")
            ran.steps.append(ran.n_runs)
            if ran.watches.n_left_out:
                ran.counts.left_out[TOO_LONG] += ran.watches.n_left_out
        except OSError as error:
            self._stop(error)

    def close(self) -> None:
        """Leave for the command what was run."""
        with self._lock:
            self._put_summary()

    def _put_summary(self) -> None:
        graphs = [ran.document() for ran in self._graphs.values()]
        text = json.dumps({"graphs": graphs, "is_broken": self._is_broken})
        try:
            with Directory.given(self._scratch) as scratch, replacing(scratch, SUMMARY) as stream:
                stream.write(text.encode())
        except OSError as error:
            self._is_broken = True
            once(f"dump reference: {self._scratch}: {error.strerror or error}: what was run is not noted")


@contextmanager
def removing(folder: Directory, path: str) -> Iterator[None]:
    """Leave nothing behind where the block that fills and moves a folder fails."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            folder.remove_tree(path)
        raise


def _ran_graph(number: int, request: Request, scratch: Path) -> RanGraph:
    operations = executed(request.graph, request.fetches, request.targets, request.feeds)
    functions = [function.cached_definition for function in request.graph._functions.values()]
    watched = watches(operations, request.feeds, request.fetches, functions, scratch)
    if watched.leaves_functions:
        once(
            f"dump reference: graph {number} has a name that is too long for a file of TensorFlow's debugger: nodes inside of "
            "functions are left out there; shorten the name to have them"
        )
    nodes = {operation.name: (operation.type, [tensor.name for tensor in operation.inputs]) for operation in operations}
    return RanGraph(number, request, trains(request.graph, operations), watched, nodes)
