"""Building blocks of `compiler`: a step of its list, the state that steps work on, and the loop that runs them."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from npu_formats.device.chip import Chip
from npu_runtime.analysis.compute_types import type_remark
from npu_runtime.analysis.precision_policy import PrecisionPolicy
from npu_runtime.config import RuntimeConfig
from npu_runtime.executor.build import HostBinding
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HostCall, Loop
from npu_runtime.graph.spec import Spec
from npu_runtime.graph.text import to_text
from npu_runtime.passes.base import Pass
from npu_runtime.passes.place.placement import Placement
from npu_runtime.passes.schedule.assign_streams import remark
from npu_runtime.passes.schedule.schedule import Schedule

Bind = Callable[[Graph, Sequence[HostCall], Placement], Mapping[HostCall, HostBinding]]
"""bind(graph, calls, placement): how each call of the host is made."""


class Observer(Protocol):
    """Looks at a compilation before its first step and behind each."""

    def begin(self, made: Compilation) -> None: ...

    def after(self, one: Step, made: Compilation) -> None: ...

    def inside(self) -> Observer | None:
        """The observer of the bodies of loops; None for none."""


@dataclass(frozen=True)
class Settings:
    """The settings that a session compiles for.  stream_limits: the most streams by engine, see `assign_streams`."""

    config: RuntimeConfig
    chip: Chip
    policy: PrecisionPolicy
    stream_limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """The request of one kind of run.  connections: values that stand in for others, by the value they replace.  ran: names of
    nodes that have run before, for which nothing waits.
    """

    fetches: Sequence[Value] = ()
    targets: Sequence[str] = ()
    feeds: Mapping[Value, Spec] = field(default_factory=dict)
    connections: Mapping[Value, Value] = field(default_factory=dict)
    ran: frozenset[str] = frozenset()


@dataclass
class Compilation:
    """A graph on its way to a program, and what the steps so far have found.

    wanted: for the steps of a request.  extents: for those of a combination of shapes, of each feed.  prologue: the part of the
    graph that has to run first to tell shapes.  is_saturating: whether fp16 results that are too large are cut.  types: device
    nodes by the float type they run in.  is_fused: whether neighbours may become one node.
    loop: whose body the graph is.  observer: who looks on, if anybody does.
    """

    graph: Graph
    settings: Settings
    placement: Placement = field(default_factory=Placement)
    wanted: Wanted = field(default_factory=Wanted)
    extents: Sequence[tuple[int | None, ...]] = ()
    bind: Bind = lambda graph, calls, placement: {}
    is_saturating: bool = False
    prologue: Graph | None = None
    types: Counter[str] = field(default_factory=Counter)
    is_fused: bool = False
    calls: Mapping[HostCall, HostBinding] = field(default_factory=dict)
    schedule: Schedule = field(default_factory=Schedule)
    loop: Loop | None = None
    observer: Observer | None = None

    def body(self, node: Node) -> Compilation:
        """The compilation of one iteration of a loop."""
        loop = node.attrs["loop"]
        observer = self.observer and self.observer.inside()
        return replace(self, graph=loop.graph, loop=loop, schedule=Schedule(), calls={}, observer=observer)


def graph_text(made: Compilation) -> str:
    """The graph with the type and the segment of each node, as far as they are known."""
    before = "" if made.prologue is None else f"first:\n{to_text(made.prologue)}\nthen:\n"
    return before + to_text(made.graph, lambda node: _remark(made, node))


def _remark(made: Compilation, node: Node) -> str:
    time = made.schedule.parts.times.get(node.name)
    kind = "" if made.settings.policy.is_origin else type_remark(node)
    return ", ".join(filter(None, (kind, "" if time is None else f"segment {time}")))


def schedule_text(made: Compilation) -> str:
    """The steps in order, and the places of values."""
    return made.schedule.text()


def streams_text(made: Compilation) -> str:
    """The graph with engines and streams."""
    return to_text(made.graph, lambda node: remark(made.schedule.streams, node))


@dataclass(frozen=True)
class Step:
    """A row of the list.

    action: a pass, or what else is done to a compilation.  because: why it stands where it stands.  requires / provides /
    breaks: facts that it needs, that hold behind it, and that no longer do.  when: whether it is done at all.  shows: the text of
    what it may have changed.
    """

    name: str
    action: Pass | Callable[[Compilation], object]
    because: str
    requires: frozenset[str]
    provides: frozenset[str]
    breaks: frozenset[str]
    when: Callable[[Compilation], bool] | None = None
    shows: Callable[[Compilation], str] = graph_text

    def run(self, made: Compilation) -> None:
        if isinstance(self.action, Pass):
            self.action.run(made.graph)
        else:
            self.action(made)


def step(
    action: Pass | Callable[[Compilation], object],
    because: str,
    *,
    requires: str = "",
    provides: str = "",
    breaks: str = "",
    when: Callable[[Compilation], bool] | None = None,
    shows: Callable[[Compilation], str] = graph_text,
) -> Step:
    """A row, named after its action; facts are words with spaces between."""
    name = action.name if isinstance(action, Pass) else action.__name__.strip("_")
    needed, made, broken = (frozenset(words.split()) for words in (requires, provides, breaks))
    return Step(name, action, because, needed, made, broken, when, shows)


def check_order(steps: Sequence[Step], given: Sequence[str] = ()) -> None:
    """Raises: ValueError when a step needs a fact that no step before it provides or that one has broken."""
    facts = set(given)
    for one in steps:
        missing = one.requires - facts
        if missing:
            raise ValueError(f"step {one.name} needs {sorted(missing)}, which no step before it provides")
        facts = (facts - one.breaks) | one.provides


def run_steps(steps: Sequence[Step], made: Compilation) -> Compilation:
    """Do all steps whose `when` holds and that are not switched off, in order."""
    switched_off = made.settings.config.switched_off
    observer = made.observer
    if observer is not None:
        observer.begin(made)
    for one in steps:
        if one.name not in switched_off and (one.when is None or one.when(made)):
            one.run(made)
            if observer is not None:
                observer.after(one, made)
    return made


@contextmanager
def without_collection() -> Iterator[None]:
    """Compiling makes many small objects that stay: looking for cycles among them doubles its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
