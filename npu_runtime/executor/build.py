"""A graph and its schedule -> a program: slots, bound attributes, the moment each value is let go."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.analysis.host_values import is_free_constant, is_handle_source, is_virtual
from npu_runtime.analysis.node_work import is_uncounted, node_work
from npu_runtime.analysis.variable_accesses import variable_inputs, writes_variables
from npu_runtime.device.variable import Variable
from npu_runtime.errors import InvalidArgument
from npu_runtime.executor import switch_merge
from npu_runtime.executor.loop import LoopRunner
from npu_runtime.executor.program import HostFunction, HostStep, Program, Task
from npu_runtime.executor.variable_locks import holding
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import (
    CONSTANT,
    FEED,
    HANDLES,
    HOST_RESOURCE,
    LOOP_INPUT,
    MERGES,
    TURNS,
    VARIABLES,
    WHILE,
    HostCall,
    Loop,
)
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.schedule.order_steps import NOTHING, is_source, may_be_dead
from npu_runtime.passes.schedule.plan_memory import MemoryPlan
from npu_runtime.passes.schedule.schedule import Schedule

STRUCTURAL: Mapping[str, Callable[..., Any]] = {
    "Switch": switch_merge.switch,
    "RefSwitch": switch_merge.switch,
    "Merge": switch_merge.merge,
    "RefMerge": switch_merge.merge,
    "RefIdentity": switch_merge.identity,
    "PlaceholderWithDefault": switch_merge.identity,
}
"""Ops the executor does itself, for every element type."""


class HostBinding(NamedTuple):
    """One host call: `function` takes the values of `feeds` and returns those of `fetches`.

    waits: values of which only counts whether they are dead; what they hold, the host knows better.
    """

    function: HostFunction
    feeds: tuple[Value, ...]
    fetches: tuple[Value, ...]
    waits: tuple[Value, ...] = ()


class State(NamedTuple):
    """State that outlives a program.  variable(node): the Variable behind a node.  generator(name): a node's private dict."""

    variable: Callable[[Node], Variable]
    generator: Callable[[str], dict[str, Any]]


def build(graph: Graph, schedule: Schedule, calls: Mapping[HostCall, HostBinding], state: State) -> Program:
    """Make a program of a graph and its schedule.

    calls: the host calls of the schedule, bound.  Returns a Program whose feeds stand in the order of the graph's feed nodes.
    """
    return _Builder(graph, schedule, calls, state).build()


def build_loop(loop: Loop, schedule: Schedule, state: State) -> LoopRunner:
    """Make a program of one iteration of a loop."""
    builder = _Builder(loop.graph, schedule, {}, state, loop)
    return LoopRunner(loop, builder.build(), builder.slots)


class _Builder:
    def __init__(
        self, graph: Graph, schedule: Schedule, calls: Mapping[HostCall, HostBinding], state: State, loop: Loop | None = None
    ) -> None:
        self.graph, self.schedule, self.calls, self.state, self.loop = graph, schedule, calls, state, loop
        self.parts = schedule.parts
        self.template: list[Any] = []
        self.slots: dict[Value, int] = {}
        self.tokens: dict[str, int] = {}
        self.inputs: set[int] = set()
        self.program = Program(has_branches=self.parts.has_branches)

    def build(self) -> Program:
        plan = self.schedule.memory
        self._make_sources()
        self._make_tokens()
        for item in self.schedule.order:
            if isinstance(item, HostCall):
                self.program.steps.append(self._host_step(item))
            elif not self._is_same_slot(item):
                self.program.steps.append(self._task(item, plan))
        self._refuse_handles()
        self._overlap(self.schedule.ends)
        self._free_after_last_use(plan)
        if self.loop is not None:
            self._mark_spent(self.loop)
        self._finish(plan)
        return self.program

    def _make_sources(self) -> None:
        feeds = []
        for node in self.graph:
            if node.op == FEED:
                feeds.append(self._slot(Value(node.name)))
            elif node.op in VARIABLES and node.host_reason is None:
                self.template[self._slot(Value(node.name))] = self.state.variable(node)
            elif node.op == LOOP_INPUT:
                self.inputs.add(self._slot(Value(node.name)))
            elif is_source(node, self.parts):
                for index, spec in enumerate(node.outputs):
                    self.template[self._slot(Value(node.name, index))] = spec.value
        self.program.feeds = tuple(feeds)

    def _slot(self, value: Value) -> int:
        if value not in self.slots:
            self.slots[value] = len(self.template)
            self.template.append(None)
        return self.slots[value]

    def _is_same_slot(self, node: Node) -> bool:
        """Let an Identity in a loop have the slot of what it hands on; False where it has to run.

        Its place in the order has been kept until here: what waits for it comes behind what it waits for.
        """
        is_plain = node.op == "Identity" and not self._derefs(node) and not may_be_dead(node, self.parts)
        if self.loop is None or not is_plain or self.program.has_branches:
            return False
        self.slots[Value(node.name)] = self._slot(node.inputs[0])
        return True

    def _make_tokens(self) -> None:
        """A slot for every node that others wait for and that may not run."""
        if not self.program.has_branches:
            return
        for name in {name for node in self.graph for name in node.controls}:
            if may_be_dead(self.graph[name], self.parts):
                self.tokens[name] = len(self.template)
                self.template.append(None)

    def _controls(self, nodes: Iterable[Node]) -> tuple[int, ...]:
        waited = {name for node in nodes for name in node.controls} - {node.name for node in nodes}
        return tuple(sorted(self.tokens[name] for name in waited if name in self.tokens))

    def _task(self, node: Node, plan: MemoryPlan) -> Task:
        made = all_kernels().get(node.op)
        outs = tuple(self._slot(Value(node.name, i)) for i in range(len(node.outputs)))
        ins = self._ins(node.inputs[1:] if is_virtual(node) else node.inputs)
        return Task(
            node.name, node.op, self._function(node, plan), ins, outs,
            derefs=self._derefs(node), buffers=self._buffers(node, plan), controls=self._controls([node]),
            token=self.tokens.get(node.name, -1), unit=made.unit if made else "scalar", flops=node_work(self.graph, node),
            writes=writes_variables(self.graph, node), may_see_dead=self._may_see_dead(node), turns=node.attrs.get(TURNS),
        )  # fmt: skip

    def _may_see_dead(self, node: Node) -> bool:
        return self.program.has_branches and (node.op in MERGES or may_be_dead(node, self.parts))

    def _ins(self, values: Iterable[Value]) -> tuple[int, ...]:
        return tuple(self._slot(value) for value in values)

    def _derefs(self, node: Node) -> tuple[int, ...]:
        if is_virtual(node):
            return ()
        return tuple(i for i, value in enumerate(node.inputs) if i not in node.ref_inputs and self._is_ref(value))

    def _is_ref(self, value: Value) -> bool:
        producer = self.graph[value.node]
        return producer.host_reason is None and value.output in producer.ref_outputs

    def _function(self, node: Node, plan: MemoryPlan) -> Callable[..., Any]:
        if node.op in ("Const", CONSTANT):
            values = tuple(spec.value for spec in node.outputs)
            return lambda: values[0] if len(values) == 1 else values
        if node.op in NOTHING:
            return lambda: None
        if node.op == WHILE:
            runner = build_loop(node.attrs["loop"], self.schedule.bodies[node.name], self.state)
            self.program.loops.append(runner)
            return runner
        if node.op.startswith("Placeholder") and not node.inputs:
            return partial(_not_fed, node)
        if is_virtual(node):
            return partial(switch_merge.switch, None)
        if node.op in STRUCTURAL or (node.op == "Identity" and node.outputs[0].dtype in HANDLES):
            return STRUCTURAL.get(node.op, switch_merge.identity)
        if TURNS in node.attrs:
            self.program.loops.append(node.attrs[TURNS])
        made = all_kernels()[node.op]
        handed = variable_inputs(self.graph, node)
        if made.small is not None and not handed:
            is_planned = all(Value(node.name, index) in plan.offsets_bytes for index in range(len(node.outputs)))
            inputs = [self.graph.spec(value) for value in node.inputs]
            small = made.function_for(inputs, node.outputs, node.attrs, is_planned)
            if small is not None:
                return small
        keywords = made.bind(node.attrs)
        if made.is_stateful:
            keywords["state"] = self.state.generator(node.name)
        function = partial(made.function, **keywords) if keywords else made.function
        return holding(function, handed) if handed else function

    def _buffers(self, node: Node, plan: MemoryPlan) -> tuple[tuple[int, int, tuple[int, ...], str], ...]:
        found = []
        for index, spec in enumerate(node.outputs):
            offset = plan.offsets_bytes.get(Value(node.name, index))
            if offset is not None:
                found.append((index, offset, spec.known_shape(), spec.dtype))
        return tuple(found)

    def _host_step(self, call: HostCall) -> HostStep:
        binding = self.calls[call]
        nodes = [self.graph[name] for name in call.nodes]
        tokens = tuple(self.tokens[name] for name in call.nodes if name in self.tokens)
        derefs = tuple(i for i, value in enumerate(binding.feeds) if self._is_ref(value))
        controls = self._controls(nodes) + self._virtual_controls(nodes) + self._ins(binding.waits)
        ins, outs = self._ins(binding.feeds), self._ins(binding.fetches)
        writes = any(writes_variables(self.graph, node) for node in nodes)
        return HostStep(call.nodes, binding.function, ins, outs, derefs, controls, tokens, writes=writes)

    def _virtual_controls(self, nodes: list[Node]) -> tuple[int, ...]:
        """A handle that comes through a Switch is not fed; what tells of its branch is the switched predicate."""
        switched = {value for node in nodes for value in node.inputs if is_virtual(self.graph[value.node])}
        return tuple(self._slot(value) for value in sorted(switched))

    def _refuse_handles(self) -> None:
        """Tell of a fetched handle: each host call makes the handles that it uses anew, so that there is none to give.

        Raises: InvalidArgument.
        """
        for value in self.graph.fetches:
            node = self.graph[value.node]
            if value not in self.slots and is_handle_source(node):
                raise InvalidArgument(
                    "it gives the handle of a resource on the host, which a simulated run cannot fetch: fetch what is read "
                    "from the resource, or run the operation (`tensor.op`)"
                ).at(node.name, node.op)

    def _overlap(self, ends: Mapping[str, int]) -> None:
        """Tell each step what runs beside it and has to end first."""
        steps = self.program.steps
        for position, step in enumerate(steps):
            if isinstance(step, Task) and step.node in ends:
                step.is_beside = True
                if ends[step.node] < len(steps):
                    steps[ends[step.node]].waits += (position,)

    def _free_after_last_use(self, plan: MemoryPlan) -> None:
        """Let go of values outside the arena as soon as nobody needs them: a held snapshot makes a variable copy."""
        kept = {self.slots[value] for value in self.graph.fetches} | {i for i, v in enumerate(self.template) if v is not None}
        kept |= (
            {self.slots[value] for value in plan.offsets_bytes if value in self.slots} | set(self.tokens.values()) | self.inputs
        )
        last: dict[int, int] = {}
        for position, step in enumerate(self.program.steps):
            last.update(dict.fromkeys((*step.ins, *step.outs, *step.controls), position))
        for slot, position in last.items():
            if slot not in kept:
                self.program.steps[position].frees += (slot,)

    def _mark_spent(self, loop: Loop) -> None:
        """Tell each step of a loop which inputs are read by it alone, neither carried on nor the same in each turn."""
        readers = Counter(slot for step in self.program.steps for slot in step.ins)
        kept = {self.slots[value] for value in (loop.condition, *loop.next_values.values())}
        kept |= {self.slots[Value(name)] for name in loop.constants.values()}
        kept |= {slot for slot, value in enumerate(self.template) if value is not None}
        for step in self.program.steps:
            if isinstance(step, Task) and step.op in all_kernels():
                places = self._written_over(self.graph[step.node])
                step.spent = tuple(i for i in places if readers[step.ins[i]] == 1 and step.ins[i] not in kept)

    def _written_over(self, node: Node) -> list[int]:
        """Inputs of the type of the result, over which its kernel can write it."""
        inputs = list(enumerate(node.inputs))
        same = {i for i, value in inputs if node.outputs and self.graph.spec(value).dtype == node.outputs[0].dtype}
        return [i for i in all_kernels()[node.op].inplace if i in same]

    def _finish(self, plan: MemoryPlan) -> None:
        program = self.program
        program.fetches = self._ins(self.graph.fetches)
        program.fetch_values = tuple(self.graph.fetches)
        program.template = self.template
        program.memory = plan
        program.streams = self.schedule.streams
        program.device_flops = sum(step.flops for step in program.steps if isinstance(step, Task))
        program.unread_flops = self.graph.saved_flops
        on_host = [
            node for node in self.graph if node.host_reason is not None and node.op != HOST_RESOURCE and not is_virtual(node)
        ]
        program.host_nodes = {node.name: node.host_reason or "" for node in on_host}
        program.host_flops = sum(self._host_flops(node) for node in on_host)
        on_device = [n for n in self.graph if n.host_reason is None and not is_free_constant(n) and n.op != FEED]
        program.n_uncounted = sum(is_uncounted(self.graph, node) for node in (*on_device, *on_host))
        program.device_nodes = tuple(sys.intern(n.name) for n in on_device)  # the run log keeps them, of every session

    def _host_flops(self, node: Node) -> float:
        """Flops as on the device where we know the op, else one operation for each floating-point element it makes."""
        if node.op in all_kernels():
            return node_work(self.graph, node)
        floats = [s for s in node.outputs if s.dtype in (*dt.FLOATS, "float64") and s.is_complete and not node.is_stateful]
        return float(sum(np.prod(spec.known_shape()) for spec in floats))


def _not_fed(node: Node) -> None:
    spec = node.outputs[0]
    shape = ",".join("?" if n is None else str(n) for n in spec.shape or ())
    raise InvalidArgument(
        f"You must feed a value for placeholder tensor '{node.name}' with dtype {dt.tensorflow_name(spec.dtype)}"
        + (f" and shape [{shape}]" if spec.shape else "")
    )
