"""A device session: what a user's session runs, the programs and variables that it keeps, and the threads that share it.

importer (graph in, host side) -> compiler (what runs where, simplify, schedule) -> executor (run); programs are cached by what is
fetched, targeted and fed, and by the shapes of the feeds and of the input pipeline's batches.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from npu_formats.free_memory import free_bytes
from npu_runtime.analysis.fusion_switches import with_fusion_switches
from npu_runtime.analysis.precision_policy import load_policy, saturates
from npu_runtime.analysis.training_updates import trains
from npu_runtime.compiler.compilation import Compilation, Settings, Wanted, run_steps, without_collection
from npu_runtime.compiler.instrumentation import observer
from npu_runtime.compiler.pipeline import ASSIGN_TYPES, MAKE_PROGRAM, ON_IMPORT, ON_SHAPES, SEGMENT, SELECT
from npu_runtime.config import ORIGIN, Precision, RuntimeConfig
from npu_runtime.device.variable import Variable
from npu_runtime.dtypes import to_numpy
from npu_runtime.errors import FailedPrecondition
from npu_runtime.executor.build import State, build
from npu_runtime.executor.capacity import beyond_machine, check_capacity, over_pools
from npu_runtime.executor.dry_run import is_setting, run_shapes
from npu_runtime.executor.loop import turns_of
from npu_runtime.executor.program import Program
from npu_runtime.executor.program_cache import Extents, is_open
from npu_runtime.executor.run import Runner
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import VARIABLES, HostCall, variable_key
from npu_runtime.importers.tensorflow.graphdef import GraphImporter
from npu_runtime.importers.tensorflow.host import HostSide
from npu_runtime.interrupts import Interrupts
from npu_runtime.kernels.algorithm_choice import save_choices
from npu_runtime.log import tell_once
from npu_runtime.observers.loaded_program import LoadedProgram, Loading
from npu_runtime.observers.ran_step import ProgramStep, RanStep
from npu_runtime.passes.place.placement import Placement
from npu_runtime.passes.schedule.plan_memory import MemoryPlan
from npu_runtime.session.host_calls import HostCalls
from npu_runtime.session.plan import Plan, Request, bytes_of_variables, note, open_spec, shape_of
from npu_runtime.session.session_state import SessionState, for_observers
from npu_runtime.trace.run_log import ProgramRecord

LOOP_VARIABLE = "npu_runconfig/iterations_per_loop"


class ObservedSession:
    """Runs one graph on the device, and tells the observers of its session.

    importer: follows the graph as it grows.  host: its host side.  state: of the session, which other graphs may share.
    function: of eager code whose graph it is, for the run log.
    """

    def __init__(self, importer: GraphImporter, host: HostSide, state: SessionState, function: str = "") -> None:
        self._importer, self._host, self._state, self.function = importer, host, state, function
        self._placement = Placement()
        self._n_imports = 0
        self._placed: set[str] = set()
        self._generators: dict[str, dict[str, Any]] = {}
        self._plans: dict[tuple[Request, bool], Plan] = {}
        self._host_calls = HostCalls(importer, host, state.observers)
        self._loaded: WeakKeyDictionary[Runner, LoadedProgram] = WeakKeyDictionary()
        self._is_closed = False

    def run(self, request: Request, feeds: Sequence[np.ndarray]) -> list[Any]:
        """One step.  feeds: arrays in the order of request.feeds.  Returns the fetches in order.

        Raises: npu_runtime.errors.DeviceError with the node; TensorFlow's own errors from the host side; what handlers of
        signals raise, before a variable has changed or when the step is over.
        """
        if self._is_closed:
            raise FailedPrecondition("the session is closed")
        with Interrupts() as interrupts:
            loop_steps = self._repetitions(request)
            for turn in range(loop_steps):
                interrupts.is_held = False
                with self._state.observers.around_step():
                    result = self._step(request, feeds, turn == 0, loop_steps)
        return result

    def _repetitions(self, request: Request) -> int:
        """The number of steps that one call makes: the loop variable counts those after the first.

        Source: the adapter's iteration offload runs an op named IterationOp as often as its loop variables say.
        """
        if not request.is_looped:
            return 1
        variable = self._state.variables.get(("resource", LOOP_VARIABLE))
        return 1 + int(variable.read()) if variable is not None and variable.is_initialized else 1

    def _step(self, request: Request, feeds: Sequence[np.ndarray], is_issued: bool, loop_steps: int) -> list[Any]:
        plan = self._plan_for(request)
        try:
            values = list(feeds)
            if plan.prologue is not None:
                values += plan.prologue.run(feeds, convert=np.asarray)
            runner = self._runner_for(plan, values)
            if self._state.observers.before:
                self._tell_before(plan, values)
            result = self._run(runner, values)
        finally:
            save_choices()
            self._state.in_flight.end(plan.variables)
        plan.record.count_run(result)
        if runner.program.loops and not runner.program.is_open:
            plan.record.device_flops = runner.program.measured_flops()
        watchers = self._state.observers.after
        if watchers:
            step = self._ran_step(plan, runner, values, is_issued, loop_steps)
            for tell in watchers:
                tell(step)
        return result

    def _run(self, runner: Runner, values: Sequence[np.ndarray]) -> list[Any]:
        loaded = self._loaded[runner]
        if not self._state.observers.computes and not is_setting(runner.program, values):
            return run_shapes(runner.program, loaded.fetched)
        with self._state.observers.around_run(loaded):
            return runner.run(values)

    def _tell_before(self, plan: Plan, values: Sequence[np.ndarray]) -> None:
        step = self._program_step(plan, values)
        for tell in self._state.observers.before:
            tell(step)

    def _program_step(self, plan: Plan, values: Sequence[np.ndarray]) -> ProgramStep:
        """A step for observers."""
        shapes = tuple(shape_of(value) for value in values)
        number = self._state.record.programs.index(plan.record) + 1
        program, name = (self._state.record.name, number, shapes), f"{self._state.record.name} run {number}"
        return ProgramStep(
            program, name, plan.main, shapes, self._placement, self._state.config, self._state.variables, self._importer.trainable
        )

    def _ran_step(
        self, plan: Plan, runner: Runner, values: Sequence[np.ndarray], is_issued: bool, loop_steps: int
    ) -> RanStep:  # fmt: skip
        """A step for observers, behind it."""
        loaded = self._loaded[runner]
        return RanStep(
            **vars(self._program_step(plan, values)), memory=runner.program.memory, order=loaded.order,
            variable_bytes=loaded.variable_bytes, source_of=self._importer.source_of,
            memory_for=partial(self._memory_for, plan), turns=turns_of(runner.program) if runner.program.loops else {},
            is_issued=is_issued, loop_steps=loop_steps, choose=self._state.observers.choose,
            trains_eagerly=bool(self.function) and plan.record.trains,
        )  # fmt: skip

    def _memory_for(self, plan: Plan, shapes: Extents) -> MemoryPlan:
        """The memory of a step with other shapes."""
        made = self._compilation(plan.main, "batch")
        made.extents, made.is_saturating = shapes, plan.is_saturating
        return run_steps((*ON_SHAPES, *MAKE_PROGRAM), made).schedule.memory

    @property
    def is_reduced(self) -> bool:
        """Whether a precision mode changes the types of the graph."""
        return not self._state.policy.is_origin

    def keep_graph_types(self, note: str) -> None:
        """Compile every later run in the types of the graph; note: a line on it for the run log."""
        with self._state.lock:
            if self.is_reduced:
                self._state.policy = load_policy(replace(self._state.config, precision=Precision(ORIGIN)), self._state.chip)
                self._plans.clear()
                self._state.record.notes += (note,)

    def reconfigure(self, config: RuntimeConfig) -> None:
        """Compile every later run for other precision and fusions on the same chip; what was imported, and variables, stay."""
        with self._state.lock:
            switched, _ = with_fusion_switches(config)
            self._state.config = for_observers(switched, self._state.observers)
            self._state.policy = load_policy(config, self._state.chip)
            self._plans.clear()

    def forget_values(self, names: Collection[str]) -> None:
        """Give back the memory of some variables, which are given values before they are read again."""
        for (_, name), variable in self._state.variables.items():
            if name in names:
                variable.reset()

    def typed_graph(self, request: Request) -> Graph:
        """A copy of the graph of a request, straight, in which each node has the type that it runs in."""
        with self._state.lock:
            made = self._compilation(self._current_plan(request).main, "types")
            made.graph = made.graph.copied()
            return run_steps(ASSIGN_TYPES, made).graph

    def close(self) -> None:
        """Give back the host session and all device memory."""
        self._is_closed = True
        self._host.close()
        self._plans.clear()
        self._state.close()

    def _plan_for(self, request: Request) -> Plan:
        """The plan of a step that has begun with this; whoever asks says when it has ended."""
        since = 0.0
        while True:
            with self._state.lock:
                plan = self._current_plan(request)
                if self._state.in_flight.begin(plan.variables):
                    return plan
            since = since or time.monotonic()
            self._state.in_flight.wait(since)

    def _current_plan(self, request: Request) -> Plan:
        key = request, saturates(self._state.policy, self._state.config, self._state.chip)
        plan = self._plans.get(key)
        if plan is None or self._importer.is_behind():
            with without_collection(), self._state.observers.around_compilation():
                if self._importer.update():
                    self._place()
                plan = self._plans.get(key) or self._make_plan(request, key[1])
                self._plans[key] = plan
        return plan

    def _place(self) -> None:
        """Decide sides anew, as the graph has grown."""
        graph, before = self._importer.graph, self._placement.reasons
        self._n_imports += 1
        made = self._compilation(graph, f"import {self._n_imports}")
        self._placement = run_steps(ON_IMPORT, made).placement
        moved = [name for name in self._placement.reasons if name in self._placed and name not in before]
        self._placed = set(graph.nodes)
        if moved:
            self._plans.clear()
            variables = [graph[name] for name in moved if graph[name].op in VARIABLES]
            self._state.in_flight.move({variable_key(node): partial(self._move_variable, node) for node in variables})

    def _move_variable(self, node: Node) -> None:
        """A variable that must go to the host takes its value along."""
        key = variable_key(node)
        variable = self._state.variables.get(key)
        if variable is not None and variable.is_initialized:
            self._host.add_nodes(self._importer.graph, [node.name], self._placement.groups)
            self._host.set_variable(node.name, variable.read())
        self._state.variables.pop(key, None)

    def _make_plan(self, request: Request, is_saturating: bool) -> Plan:
        graph = self._importer.graph
        resolve = self._importer.resolve
        feeds = {value: open_spec(graph.spec(value)) for value in map(resolve, request.feeds)}
        connections = {resolve(new): resolve(old) for old, new in request.connections}
        fetches = [resolve(name) for name in request.fetches]
        number = len(self._state.record.programs) + 1
        made = self._compilation(graph, f"run {number}")
        made.wanted, made.is_saturating = Wanted(fetches, request.targets, feeds, connections, request.ran), is_saturating
        pruned = run_steps(SELECT, made).graph
        is_training = trains(pruned, self._importer.trainable())
        record = ProgramRecord(request.fetches + request.targets, trains=is_training, function=self.function)
        self._state.observers.planned(record)
        self._state.record.programs.append(record)
        self._state.record.saturates |= is_saturating
        variables = frozenset(variable_key(node) for node in pruned if node.op in VARIABLES)
        run_steps(SEGMENT, made)
        return Plan(request, made.graph, self._prologue(made, record), record, is_saturating, variables)

    def _prologue(self, request: Compilation, record: ProgramRecord) -> Runner | None:
        """The runner of the part that has to run before the shapes of the rest are known; None where there is none."""
        if request.prologue is None:
            return None
        made = self._compilation(request.prologue, f"run {len(self._state.record.programs)} prologue")
        made.is_saturating = request.is_saturating
        program = self._build(run_steps(MAKE_PROGRAM, made))
        record.host_nodes.update(program.host_nodes)
        return Runner(program, self._state.arenas)

    def _runner_for(self, plan: Plan, feeds: Sequence[np.ndarray]) -> Runner:
        shapes = tuple([shape_of(value) for value in feeds])
        runner = plan.runners.get(shapes)
        if runner is None:
            with self._state.lock, without_collection(), self._state.observers.around_compilation():
                extents = plan.runners.wanted(shapes)
                runner = plan.runners.compiled(extents)
                if runner is None:
                    runner = self._specialise(plan, extents)
                    plan.record.n_dropped += plan.runners.add(extents, runner)
        return runner

    def _specialise(self, plan: Plan, extents: Extents) -> Runner:
        record = plan.record
        number = self._state.record.programs.index(record) + 1
        made = self._compilation(plan.main, f"run {number} shapes {record.n_compilations + 1}", is_whole=True)
        made.extents, made.is_saturating = extents, plan.is_saturating
        loading = Loading(made, plan.main, self._importer, plan.inputs, record)
        self._state.observers.compiling(loading)
        program = self._build(run_steps((*ON_SHAPES, *MAKE_PROGRAM), made))
        program.is_open = is_open(extents)
        self._state.observers.compiled(loading, program)
        record.n_compilations += 1
        record.host_nodes.update(program.host_nodes)
        variable_bytes = bytes_of_variables(self._state.variables, made.graph)
        if not program.is_open:  # else nobody knows yet what it will compute and store
            note(record, program, variable_bytes)
            if self._state.observers.computes:
                check_capacity(made.graph, program.memory, variable_bytes, self._state.chip)
                self._tell_of_memory(program.memory, variable_bytes)
            over = over_pools(program.memory, variable_bytes, self._state.config.parameters)
            self._state.record.notes += tuple(line for line in over if line not in self._state.record.notes)
        runner = Runner(program, self._state.arenas)
        names = [item.nodes[0] if isinstance(item, HostCall) else item.name for item in made.schedule.order]
        fetched = [made.graph.spec(value) for value in program.fetch_values]
        loaded = self._loaded[runner] = LoadedProgram(plan.request, record, program, names, fetched, variable_bytes)
        self._state.observers.loaded(loading, loaded)
        return runner

    def _tell_of_memory(self, memory: MemoryPlan, variable_bytes: int) -> None:
        """Say before a step that this machine has too little memory for it.  variable_bytes: of all, with a value or not yet."""
        held = sum(variable.n_bytes for variable in self._state.variables.values())
        line = beyond_machine(self._state.arenas.missing(memory.arena_bytes) + variable_bytes - held, free_bytes())
        if line:
            tell_once(line, "this machine's memory")

    def _compilation(self, graph: Graph, name: str, is_whole: bool = False) -> Compilation:
        """The beginning of one.  name, is_whole: for those who look on, see `instrumentation.observer`."""
        settings = Settings(self._state.config, self._state.chip, self._state.policy, self._state.stream_limits)
        looks_on = observer(self._state.config, f"{self._state.record.name} {name}", is_whole)
        return Compilation(graph, settings, self._placement, bind=self._host_calls.bind, observer=looks_on)

    def _build(self, made: Compilation) -> Program:
        program = build(made.graph, made.schedule, made.calls, State(self._variable, self._generator))
        program.device_types, program.saturates = made.types, made.is_saturating
        return program

    def _variable(self, node: Node) -> Variable:
        key = variable_key(node)
        if key not in self._state.variables:
            is_ref = node.op != "VarHandleOp"
            dtype, shape = to_numpy(node.attrs["dtype"]), node.attrs.get("shape")
            self._state.variables[key] = Variable.of_node(key[1], dtype, is_ref, shape, self._state.container)
        return self._state.variables[key]

    def _generator(self, name: str) -> dict[str, Any]:
        return self._generators.setdefault(name, {})
