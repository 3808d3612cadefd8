"""The state that a session keeps of a kind of run: the request, its plan, and what it knows of each program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from npu_formats.user_frames import calling_line
from npu_runtime.device.variable import Variable
from npu_runtime.executor.program import Program
from npu_runtime.executor.program_cache import ProgramCache, Shapes
from npu_runtime.executor.run import Runner
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import VARIABLES, Key, variable_key
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.control.tensor_list import TensorList
from npu_runtime.passes.schedule.assign_streams import describe
from npu_runtime.trace.run_log import ProgramRecord

LOOPED_OP = "IterationOp"


@dataclass(frozen=True)
class Request:
    """The fetches, targets, feeds and connections of a kind of run, by TensorFlow's names ("loss:0", "train_op")."""

    fetches: tuple[str, ...]
    targets: tuple[str, ...]
    feeds: tuple[str, ...]
    connections: tuple[tuple[str, str], ...] = ()
    """(replacement, replaced) tensors, as CallableOptions.tensor_connection."""
    ran: frozenset[str] = frozenset()
    """Names of nodes that ran before, in an earlier part of the same step."""

    @cached_property
    def is_looped(self) -> bool:
        """Whether it asks for the op that runs a loop variable's number of steps."""
        return any(name.rsplit("/", 1)[-1] == LOOPED_OP for name in self.targets)

    @cached_property
    def _hash(self) -> int:
        return hash((self.fetches, self.targets, self.feeds, self.connections, self.ran))

    def __hash__(self) -> int:
        """Made once: functions of eager code have hundreds of targets, and each call looks its plan up."""
        return self._hash


@dataclass
class Plan:
    """A request pruned and partitioned; programs for the shapes met so far.  variables: that it uses, on either side."""

    request: Request
    main: Graph
    prologue: Runner | None
    record: ProgramRecord
    is_saturating: bool
    variables: frozenset[Key]
    runners: ProgramCache = field(init=False)

    def __post_init__(self) -> None:
        self.runners = ProgramCache(self._meet)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what gives a step its shapes: what is fed, and what comes out of the input pipeline."""
        return *self.request.feeds, *(() if self.prologue is None else map(str, self.prologue.program.fetch_values))

    def _meet(self, shapes: Shapes) -> None:
        """Let the run log know of shapes that are new, with the line that ran them."""
        self.record.meet(self.inputs, shapes, calling_line())


def note(record: ProgramRecord, program: Program, variable_bytes: int) -> None:
    """Writes the facts about a program into the run log.  variable_bytes: of the session's variables, beside which it runs."""
    record.device_types = program.device_types
    record.streams = describe(program.streams)
    record.device_nodes = program.device_nodes
    record.device_flops, record.host_flops = program.device_flops, program.host_flops
    record.unread_flops, record.n_uncounted = sum(program.unread_flops.values()), program.n_uncounted
    record.arena_bytes = max(record.arena_bytes, program.memory.arena_bytes)
    record.live_bytes = max(record.live_bytes, program.memory.live_bytes)
    record.variable_bytes = max(record.variable_bytes, variable_bytes)


def bytes_of_variables(variables: Mapping[Key, Variable], graph: Graph) -> int:
    """Bytes of the variables that have a value and of those that a program may give one."""
    n_bytes = {key: variable.n_bytes for key, variable in variables.items()}
    for node in graph:
        if node.op in VARIABLES and node.host_reason is None:
            key = variable_key(node)
            n_bytes[key] = n_bytes.get(key) or Spec(node.outputs[0].shape, node.attrs["dtype"]).n_bytes
    return sum(n_bytes.values())


def open_spec(spec: Spec) -> Spec:
    """A fed value may have any extent that its placeholder allows."""
    return Spec(spec.shape, spec.dtype)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of what is fed; of a list of tensors that of its handle, a scalar."""
    return () if isinstance(value, TensorList) else np.shape(value)
