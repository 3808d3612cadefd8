"""A step that a session ran, as the simulated clock needs to know it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from npu_runtime.config import RuntimeConfig
from npu_runtime.graph.ir import Graph
from npu_runtime.passes.place.placement import Placement
from npu_runtime.passes.schedule.plan_memory import MemoryPlan
from npu_runtime.simulation.compiled_model import Choose, untuned


@dataclass(frozen=True)
class RanStep:
    """program: tells one request and its shapes from others.  name: of the program in files.

    graph: pruned for the request, not yet compiled.  shapes: of what is fed.  memory: the plan of the step.  order: names of its
    nodes by position in that plan.  variable_bytes: of all variables of the session.  source_of: "file:line" of a node.
    memory_for: the plan for other shapes.  turns: of loops, by name.  is_issued: whether the host issued it, and no loop on the
    device.  loop_steps: how many steps the loop on the device makes that it is one of, 1 outside of any.  choose: what
    tuning has chosen for its tasks.
    """

    program: Hashable
    name: str
    graph: Graph
    shapes: Sequence[tuple[int, ...]]
    placement: Placement
    config: RuntimeConfig
    memory: MemoryPlan
    order: Sequence[str]
    variable_bytes: int
    source_of: Callable[[str], str]
    memory_for: Callable[[Sequence[tuple[int, ...]]], MemoryPlan]
    turns: Mapping[str, int] = field(default_factory=dict)
    is_issued: bool = True
    loop_steps: int = 1
    choose: Choose = untuned

    @property
    def takes_from_queue(self) -> bool:
        """Whether the input pipeline fills a queue of the device beside the steps."""
        return bool(self.config.parameters.get("enable_data_pre_proc"))


class StepWatcher(Protocol):
    """Told of every step that a session has run.  computes: whether steps are to be computed, and not only compiled."""

    computes: bool

    def after(self, step: RanStep) -> None: ...
