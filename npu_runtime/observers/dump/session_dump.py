"""The dump of one session: which steps are dumped, where their files go, and what the run log says of them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from npu_formats.device.chip import Chip
from npu_runtime.config import RuntimeConfig
from npu_runtime.device.device_number import device_number
from npu_runtime.executor.task_observers import observing
from npu_runtime.graph.ops import CONSTANT
from npu_runtime.log import tell, tell_once
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.dump.dump_request import INPUT, OUTPUT, STATS, DumpRequest, requested
from npu_runtime.observers.dump.layers import is_chosen, left_out
from npu_runtime.observers.dump.operators import Operator, Operators, operators_of
from npu_runtime.observers.dump.overflow_recorder import MOST_RECORDED, OverflowRecorder
from npu_runtime.observers.dump.recorder import Recorder
from npu_runtime.observers.dump.step_output import StepOutput
from npu_runtime.observers.dump.unreached_steps import UNREACHED
from npu_runtime.observers.dump.writer import WRITER
from npu_runtime.observers.loaded_program import LoadedProgram, Loading
from npu_runtime.observers.models import Model

HEADER_BYTES, TABLE_BYTES = 200, 400
"""About so many bytes beside the tensors: of a header of five tensors, and of a table of statistics."""
_MOST_REASONS = 3
"""Reasons of nodes on the host that are told with a count."""


@dataclass(frozen=True)
class DumpedModel:
    """A program as the dump knows it.  host_nodes: the reason of each node that runs on the host.  left_out: names of dump_layer
    that have no file, with what became of them.
    """

    model: Model
    operators: Operators
    host_nodes: Mapping[str, str]
    left_out: Mapping[str, str]


@dataclass(frozen=True)
class _Size:
    """Size of one step's dump.  has_loops: whether each turn of a loop adds to it."""

    n_files: int
    n_bytes: int
    has_loops: bool


class SessionDump(SessionObserver):
    """request: what is dumped.  chip: that the session's programs are for."""

    def __init__(self, request: DumpRequest, chip: Chip) -> None:
        self.request = request
        self._chip = chip
        self._models: WeakKeyDictionary[LoadedProgram, DumpedModel] = WeakKeyDictionary()
        self._steps: Counter[Hashable] = Counter()
        self._chosen: dict[Model, frozenset[int]] = {}
        self._without_room: set[Model] = set()
        self._lock = Lock()

    def around_run(self, loaded: LoadedProgram) -> AbstractContextManager[None]:
        """Around the next step of a program.  A step that is not dumped is left as it is."""
        model = self._models[loaded]
        with self._lock:
            number = self._steps[loaded.request]
            self._steps[loaded.request] += 1
        if not self.request.has_step(number):
            UNREACHED.passed(self.request.steps, number + 1)
            return nullcontext()
        UNREACHED.reached()
        return self._look(model, number) if self.request.looks_for else self._dump(model, number)

    @contextmanager
    def _dump(self, model: DumpedModel, number: int) -> Iterator[None]:
        chosen = self._operators_of(model)
        if not self._has_room(model, chosen, number):
            yield
            return
        output = self._output(model.model, number)
        try:
            with observing(Recorder(self.request, model.operators, chosen, output)):
                yield
        finally:
            output.end()

    @contextmanager
    def _look(self, model: DumpedModel, number: int) -> Iterator[None]:
        output = self._output(model.model, number)
        recorder = OverflowRecorder(self.request, model.operators, model.model, output, self._chip)
        try:
            with observing(recorder):
                yield
        finally:
            output.end()
            if recorder.n_found:
                more = recorder.n_found - MOST_RECORDED
                left_out = f"; {more} more have no files" if more > 0 else ""
                tell(
                    f"Overflow: {recorder.n_found} operators of step {number} of {model.model.name}; see {output.path}{left_out}"
                )

    def _output(self, model: Model, number: int) -> StepOutput:
        device = device_number(os.environ)
        parts = began(self.request.path, device), str(device), model.name, str(model.number), str(number)
        return StepOutput(self.request.path, parts)

    def _operators_of(self, model: DumpedModel) -> frozenset[int]:
        """Positions of the operators that are dumped; the first time, the run log says what a step makes.

        Models that make the same are told of once: an Estimator loads one for each session of the same graph.
        """
        with self._lock:
            if model.model not in self._chosen:
                layers = self.request.layers
                chosen = frozenset(i for i, operator in enumerate(model.operators.all) if is_chosen(layers, operator))
                self._chosen[model.model] = chosen
                self._tell_left_out(model)
                if chosen:
                    size, host = _size_text(self._size(model, chosen)), _host_text(model)
                    tell_once(f"Data dump: {size} a step of {model.model.name}{host}", f"Data dump: {size}{host}")
            return self._chosen[model.model]

    def _tell_left_out(self, model: DumpedModel) -> None:
        """Each name and reason once: models of other shapes, and other graphs, leave out the same."""
        for name, why in model.left_out.items():
            said = f"Data dump: dump_layer names {name}, which {why}: it has no file in "
            tell_once(f"{said}{model.model.name}", said)

    def _size(self, model: DumpedModel, chosen: frozenset[int]) -> _Size:
        operators = [model.operators.all[position] for position in sorted(chosen)]
        has_loops = any(operator.loops for operator in operators)
        if self.request.data == STATS:
            return _Size(len(operators), TABLE_BYTES * len(operators), has_loops)
        return _Size(len(operators), sum(map(self._bytes_of, operators)), has_loops)

    def _bytes_of(self, operator: Operator) -> int:
        read = operator.read if self.request.mode != OUTPUT else ()
        made = operator.outputs if self.request.mode != INPUT else ()
        return HEADER_BYTES + sum(tensor.n_bytes for tensor in (*read, *made))

    def _has_room(self, model: DumpedModel, chosen: frozenset[int], number: int) -> bool:
        needed = self._size(model, chosen).n_bytes
        try:
            disk = os.statvfs(self.request.path)
        except OSError:
            return True  # who writes tells what is wrong
        free = disk.f_bavail * disk.f_frsize
        if needed > free and model.model not in self._without_room:
            self._without_room.add(model.model)
            tell(
                f"Data dump: step {number} of {model.model.name} is left out, and later ones as long as it needs "
                f"{_bytes_text(needed)} and the disk of {self.request.path} has {_bytes_text(free)}; free some, or choose fewer "
                "with dump_layer, dump_mode or dump_step"
            )
        return needed <= free

    def loaded(self, loading: Loading, loaded: LoadedProgram) -> None:
        """Find the operators of a program, and tell which nodes that dump_layer names are none; it takes names of the user's."""
        model, program, compiled, users = loading.model, loaded.program, loading.made.graph, loading.users.graph
        unknown = [name for name in self.request.layers if name not in users]
        if unknown:
            tell_once(f"Data dump: dump_layer names {', '.join(unknown)}, and the graph has no such node")
        operators = operators_of(compiled, program)
        n_folded = sum(node.op == CONSTANT for node in compiled)
        if n_folded and not operators.all:
            tell_once(
                f"Data dump: {model.name} has no files: all its operators were folded to constants when it was compiled "
                f"({_count(n_folded, 'constant')}); feed a value, or read a variable, so that there is something to compute"
            )
        without_file = left_out(self.request.layers, operators.all, program.host_nodes, loading.asked, users)
        self._models[loaded] = DumpedModel(model, operators, program.host_nodes, without_file)

    def close(self) -> None:
        """Wait until the files are there."""
        WRITER.flush()


@cache
def began(root: Path, device: int) -> str:
    """The name of the folder for the dumps of this process: when the first began, or the next second that is free."""
    moment = time.time()
    while True:
        name = time.strftime("%Y%m%d%H%M%S", time.localtime(moment))
        if not os.path.lexists(root / name / str(device)):
            return name
        moment += 1


os.register_at_fork(after_in_child=began.cache_clear)


def session_dump(config: RuntimeConfig, chip: Chip) -> SessionDump | None:
    """The dump that a session's options ask for; what is wrong with them is told."""
    request, lines = requested(config.parameters)
    for line in lines:
        tell_once(line)
    return None if request is None else SessionDump(request, chip)


def _size_text(size: _Size) -> str:
    turns = ", and more for each turn of its loops" if size.has_loops else ""
    return f"{_count(size.n_files, 'file')}, about {_bytes_text(size.n_bytes)}{turns},"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _bytes_text(n_bytes: int) -> str:
    """Bytes for people."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes} bytes"


def _host_text(model: DumpedModel) -> str:
    if not model.host_nodes:
        return ""
    reasons = Counter(model.host_nodes.values()).most_common()
    said = "; ".join(f"{count}: {why}" for why, count in reasons[:_MOST_REASONS])
    more = f"; and {len(reasons) - _MOST_REASONS} more reasons" if len(reasons) > _MOST_REASONS else ""
    return f"; {_count(len(model.host_nodes), 'node')} on the host without files ({said}{more})"
