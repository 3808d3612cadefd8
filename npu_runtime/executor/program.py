"""A compiled run: tasks of the device and calls of the host in order, over numbered slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npu_runtime.graph.ir import Value
from npu_runtime.graph.ops import Turns
from npu_runtime.passes.schedule.assign_streams import StreamPlan
from npu_runtime.passes.schedule.plan_memory import MemoryPlan

HostFunction = Callable[[Sequence[Any]], "list[Any]"]


class Dead:
    """The value of everything in a branch that is not taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD = Dead()


@dataclass
class Task:
    """One kernel launch.

    function(*inputs) -> output or tuple of outputs, attributes bound.  ins/outs: slots.  derefs: positions in ins that
    hold a Variable where the kernel wants its value.  buffers: (output index, offset, shape, dtype) in the arena.
    controls: slots that make the task dead.  token: slot that tells others whether this task ran, or -1.
    frees: slots emptied afterwards.  spent: positions in ins that nobody else reads, of a loop's step: the result may be written
    over such an array.  writes: whether it changes a variable.  is_beside: whether it runs beside the steps
    that follow.  waits: steps, by position, that run beside others and must have ended before this one begins.
    may_see_dead: whether an input or a control may be DEAD, which has to be looked at.
    turns: of a kernel that stands for a loop.
    """

    node: str
    op: str
    function: Callable[..., Any]
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    derefs: tuple[int, ...] = ()
    buffers: tuple[tuple[int, int, tuple[int, ...], str], ...] = ()
    controls: tuple[int, ...] = ()
    token: int = -1
    frees: tuple[int, ...] = ()
    spent: tuple[int, ...] = ()
    unit: str = "scalar"
    flops: float = 0.0
    writes: bool = False
    is_beside: bool = False
    waits: tuple[int, ...] = ()
    may_see_dead: bool = False
    turns: Turns | None = None


@dataclass
class HostStep:
    """One call of TensorFlow. derefs, writes and waits as in Task; tokens: slots of host nodes that others wait for."""

    nodes: tuple[str, ...]
    function: HostFunction
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    derefs: tuple[int, ...] = ()
    controls: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()
    frees: tuple[int, ...] = ()
    writes: bool = False
    waits: tuple[int, ...] = ()


def step_name(step: Task | HostStep) -> str:
    """The node of a task, the first one of a host call."""
    return step.node if isinstance(step, Task) else step.nodes[0]


@dataclass
class Program:
    """steps: in order.  template: initial slots (constants, variables).  feeds / fetches: slots.  fetch_values: what the
    fetches are in the graph.  has_branches: whether DEAD can occur.  memory: the places of values in the arena.  device_flops,
    host_flops: floating-point operations of a step on either side.  unread_flops: of nodes that a pass found needless, by op.
    n_uncounted: nodes that compute, but whose shapes only a run tells.  device_nodes: names.  host_nodes: the reason for the host
    by name.  device_types: nodes by the float type they run in.  loops: the LoopRunners and Turns of its tasks.
    streams: who runs what.  saturates: whether fp16 results that are too large are cut.  is_open: whether it was compiled for
    feeds of any extent, so that its operations are not all counted.
    """

    steps: list[Task | HostStep] = field(default_factory=list)
    template: list[Any] = field(default_factory=list)
    feeds: tuple[int, ...] = ()
    fetches: tuple[int, ...] = ()
    fetch_values: tuple[Value, ...] = ()
    has_branches: bool = False
    memory: MemoryPlan = field(default_factory=MemoryPlan)
    device_flops: float = 0.0
    device_types: Counter[str] = field(default_factory=Counter)
    unread_flops: Mapping[str, float] = field(default_factory=dict)
    host_flops: float = 0.0
    n_uncounted: int = 0
    device_nodes: tuple[str, ...] = ()
    host_nodes: dict[str, str] = field(default_factory=dict)
    loops: list[Any] = field(default_factory=list)
    streams: StreamPlan = field(default_factory=StreamPlan)
    saturates: bool = False
    is_open: bool = False

    def measured_flops(self) -> float:
        """Floating-point operations on the device of the last step; only running a loop tells how often it turns."""
        return self.device_flops + sum(loop.flops for loop in self.loops)


def to_user(value: Any) -> Any:
    """A fetched value as TensorFlow's session returns it: a copy, numpy scalars for rank 0, bytes for a text scalar."""
    array = np.array(value)
    return array[()] if array.ndim == 0 else array
