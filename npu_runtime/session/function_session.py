"""A device session of eager code: its functions are programs, which share the variables that live on the device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from npu_formats.user_frames import calling_line
from npu_runtime.config import RuntimeConfig
from npu_runtime.device.variable import Variable
from npu_runtime.dtypes import ALL, to_numpy
from npu_runtime.graph.ops import Key
from npu_runtime.importers.tensorflow.eager_values import is_resource
from npu_runtime.importers.tensorflow.function_graph import why_no_program, why_nothing_to_compute
from npu_runtime.importers.tensorflow.handles import Handle
from npu_runtime.importers.tensorflow.residency import Residency, ResidentVariable
from npu_runtime.session.device_session import session_observers
from npu_runtime.session.function_program import FunctionProgram
from npu_runtime.session.session_state import SessionState
from npu_runtime.trace.function_log import FunctionLog

_INFERENCE = re.compile(r"^__(?:inference|forward|backward)_(.*?)_\d+$")
"""TensorFlow's name of a function, with the script's inside."""
Binding = tuple[str, ...]
"""The names of the variables behind the inputs of a function, "" for an input that is none."""


class Known(NamedTuple):
    """A function called with one set of variables.

    label: what the run log calls it.  program: None where the function cannot be one.  why_not: the reason for which TensorFlow
    runs it as a whole, "" where it does not.
    """

    label: str
    program: FunctionProgram | None
    why_not: str


class FunctionSession:
    """Runs functions of eager code on the device.

    config: the options of the session.  place: "file:line" that opened it, for the run log.
    """

    def __init__(self, config: RuntimeConfig, place: str = "") -> None:
        self._state = SessionState.opened(config, partial(session_observers, recorder=None), place)
        self.residency = Residency(self._make_variable, self._drop_variable)
        self.log = FunctionLog()
        self._programs: WeakKeyDictionary[Any, dict[Binding, Known]] = WeakKeyDictionary()

    @property
    def config(self) -> RuntimeConfig:
        """The options of the session."""
        return self._state.config

    def program(self, function: Any, arguments: Sequence[Any]) -> Known:
        """The program of a function for the variables that these arguments lead to, and why it is not to be used, if so.

        function: an AtomicFunction of TensorFlow.  arguments: the flat eager tensors of a call.
        """
        variables = [self.residency.of(one) if is_resource(one) else None for one in arguments]
        binding = tuple([variable.handle.name if variable is not None else "" for variable in variables])
        programs = self._programs.get(function)
        made = programs.get(binding) if programs is not None else None
        if made is None:
            with self._state.lock:
                programs = self._programs.setdefault(function, {})
                made = programs.get(binding)
                if made is None:
                    made = programs[binding] = self._compile(function, variables)
        return made

    def _compile(self, function: Any, variables: Sequence[ResidentVariable | None]) -> Known:
        name, line = _INFERENCE.sub(r"\1", function.name.decode()), calling_line()
        label = f"{name} ({line})" if line else name
        reason = why_no_program(function.graph)
        if reason:
            self.log.met(label, reason)
            return Known(label, None, reason)
        program = FunctionProgram(function.graph, variables, self.residency, self._state, label, line)
        reason = "" if program.computes() else why_nothing_to_compute(function.graph)
        self.log.met(label, reason)
        return Known(label, program, reason)

    def restart_generators(self) -> None:
        """Let stateful random operations begin anew, as those of TensorFlow do when its kernels are made anew."""
        with self._state.lock:
            for known in self._known():
                known.restart_generators()

    def _known(self) -> list[FunctionProgram]:
        programs = [known.program for made in list(self._programs.values()) for known in made.values()]
        return [program for program in programs if program is not None]

    def variable(self, tensor: Any) -> ResidentVariable | None:
        """The variable that an eager handle leads to, if a program has used it."""
        return self.residency.seen(tensor)

    def forget(self, function: Any) -> None:
        """Drop the programs of a function."""
        for known in self._programs.pop(function, {}).values():
            if known.program is not None:
                known.program.close()

    def close(self) -> None:
        """Bring all variables back to TensorFlow, and give back the device's memory."""
        for variable in self.residency:
            variable.to_host(self.residency.copies)
        for function in list(self._programs):
            self.forget(function)
        self._state.close()

    def _make_variable(self, handle: Handle) -> Variable | None:
        if handle.dtype not in ALL:
            return None
        made = Variable(handle.title, to_numpy(handle.dtype), False, handle.shape, self._state.container)
        self._state.variables["resource", handle.name] = made
        return made

    def _drop_variable(self, key: Key) -> None:
        self._state.variables.pop(key, None)
