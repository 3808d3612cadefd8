"""The state that a session keeps of a kind of run: the request, its plan, and what it knows of each program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from npu_formats.user_frames import calling_line
from npu_runtime.device.variable import Variable
from npu_runtime.dump.session_dump import DumpedModel
from npu_runtime.events import KeptOfProgram, ProgramRecord
from npu_runtime.executor.program import Program, Task
from npu_runtime.executor.program_cache import ProgramCache, Shapes
from npu_runtime.executor.run import Runner
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import VARIABLES, Key, variable_key
from npu_runtime.graph.spec import Spec
from npu_runtime.importer.graphdef import GraphImporter
from npu_runtime.passes.schedule.assign_streams import describe


@dataclass(frozen=True)
class Request:
    """The fetches, targets, feeds and connections of a kind of run, by TensorFlow's names ("loss:0", "train_op")."""

    fetches: tuple[str, ...]
    targets: tuple[str, ...]
    feeds: tuple[str, ...]
    connections: tuple[tuple[str, str], ...] = ()
    """(replacement, replaced) tensors, as CallableOptions.tensor_connection."""


@dataclass
class Plan:
    """A request pruned and partitioned; programs for the shapes met so far.  variables: that it uses, on either side.
    feeds: names of what is fed.
    """

    main: Graph
    prologue: Runner | None
    record: ProgramRecord
    is_saturating: bool
    variables: frozenset[Key]
    feeds: tuple[str, ...] = ()
    runners: ProgramCache = field(init=False)

    def __post_init__(self) -> None:
        self.runners = ProgramCache(self._meet)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what gives a step its shapes: what is fed, and what comes out of the input pipeline."""
        return *self.feeds, *(() if self.prologue is None else map(str, self.prologue.program.fetch_values))

    def _meet(self, shapes: Shapes) -> None:
        """Let the run log know of shapes that are new, with the line that ran them."""
        self.record.meet(self.inputs, shapes, calling_line())


@dataclass(frozen=True)
class Kept:
    """Facts on a program for watchers.  order: names of its steps.  fetched: specs of the fetches.  variable_bytes: of the
    session. dumped: as the dump knows it, where there is one.
    """

    order: Sequence[str]
    fetched: Sequence[Spec]
    variable_bytes: int
    dumped: DumpedModel | None


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
    if record.kept is not None:
        record.kept.work = _work_by_op(program)


def keep_lines(kept: KeptOfProgram, plan: Plan, program: Program, importer: GraphImporter) -> None:
    """Keeps the lines of the user's that made the nodes and the inputs of a program, for a report."""
    source_of, on_host = importer.source_of, program.host_nodes
    kept.device_lines.update((node.name, source_of(node.name)) for node in plan.main if node.name not in on_host)
    kept.host_lines.update((name, source_of(name)) for name in plan.record.host_nodes | on_host)
    kept.input_lines.update((name, importer.lines_of_input(name)) for name in plan.inputs)


def bytes_of_variables(variables: Mapping[Key, Variable], graph: Graph) -> int:
    """Bytes of the variables that have a value and of those that a program may give one."""
    n_bytes = {key: variable.n_bytes for key, variable in variables.items()}
    for node in graph:
        if node.op in VARIABLES and node.host_reason is None:
            key = variable_key(node)
            n_bytes[key] = n_bytes.get(key) or Spec(node.outputs[0].shape, node.attrs["dtype"]).n_bytes
    return sum(n_bytes.values())


def _work_by_op(program: Program) -> dict[str, float]:
    """Floating-point operations of a step on the device by operator; of loops, a turn's."""
    work: dict[str, float] = {}
    for step in program.steps:
        if isinstance(step, Task) and step.flops:
            work[step.op] = work.get(step.op, 0.0) + step.flops
    return work


def open_spec(spec: Spec) -> Spec:
    """A fed value may have any extent that its placeholder allows."""
    return Spec(spec.shape, spec.dtype)
