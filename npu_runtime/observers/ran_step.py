"""The steps of a session as its observers are told of them: one that is about to run, and one that has run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from npu_runtime.config import RuntimeConfig
from npu_runtime.device.variable import Variable
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import Key
from npu_runtime.lowering.lower import Choose, untuned
from npu_runtime.passes.place.placement import Placement
from npu_runtime.passes.schedule.plan_memory import MemoryPlan


@dataclass(frozen=True)
class ProgramStep:
    """A step that is about to run.

    program: tells one request and its shapes from others.  name: of the program in files.  graph: pruned for the request, not
    yet compiled.  shapes: of what is fed.  variables: of the session, with their values of this moment, by the key of their
    nodes.  trainable: names of the nodes of those that the script trains, when asked.
    """

    program: Hashable
    name: str
    graph: Graph
    shapes: Sequence[tuple[int, ...]]
    placement: Placement
    config: RuntimeConfig
    variables: Mapping[Key, Variable]
    trainable: Callable[[], Collection[str]]


@dataclass(frozen=True)
class RanStep(ProgramStep):
    """A step that a session has run.

    memory: the plan of the step.  order: names of its nodes by position in that plan.  variable_bytes: of all variables of the
    session.  source_of: "file:line" of a node.  memory_for: the plan for other shapes.  turns: of loops, by name.  is_issued:
    whether the host issued it, and no loop on the device.  loop_steps: how many steps the loop on the device makes that it is
    one of, 1 outside of any.  choose: what tuning has chosen for its tasks.  trains_eagerly: whether it is a function of eager
    code that changes trainable variables, be it without operators of optimizers: those of Keras add and subtract.
    """

    memory: MemoryPlan
    order: Sequence[str]
    variable_bytes: int
    source_of: Callable[[str], str]
    memory_for: Callable[[Sequence[tuple[int, ...]]], MemoryPlan]
    turns: Mapping[str, int] = field(default_factory=dict)
    is_issued: bool = True
    loop_steps: int = 1
    choose: Choose = untuned
    trains_eagerly: bool = False

    @property
    def takes_from_queue(self) -> bool:
        """Whether the input pipeline fills a queue of the device beside the steps."""
        return bool(self.config.parameters.get("enable_data_pre_proc"))
