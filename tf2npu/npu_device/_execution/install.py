"""The switch: from here on, functions that eager code calls run on the simulated device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from npu_device._execution import eager_operations, function_calls, run_summary
from npu_device._execution.errors import of_option

from npu_formats.user_frames import calling_line
from npu_runtime.config import load_config
from npu_runtime.errors import DeviceError
from npu_runtime.observers.prediction.collector import prepare
from npu_runtime.session.function_session import FunctionSession
from npu_runtime.trace.timeline import recording

_session: list[FunctionSession] = []
_instead: list[Callable[[Mapping[str, Any]], None]] = []


def hand_options_to(take: Callable[[Mapping[str, Any]], None]) -> None:
    """Let a tool have the options of the device that the script makes the default: the tool runs the functions."""
    _instead[:] = [take]


def install(options: Mapping[str, Any]) -> None:
    """Run functions on the device from now on.  options: as the session reads them; those of the first call count.

    Raises: TensorFlow's error for an option that is refused.
    """
    if _instead:
        _instead[0](options)
    elif not _session:
        recording()  # begins here, where one is asked for
        prepare()
        session = _opened(options)
        eager_operations.watch(session.residency, session.restart_generators)
        function_calls.run_on(session)
        run_summary.begin(session)
        _session.append(session)


def _opened(options: Mapping[str, Any]) -> FunctionSession:
    try:
        return FunctionSession(load_config(options), place=calling_line())
    except DeviceError as error:
        raise of_option(error) from None


def session() -> FunctionSession | None:
    """The session of this process, None before the device is the default."""
    return _session[0] if _session else None


def uninstall() -> None:
    """Give TensorFlow its own functions back, and all variables their values."""
    if _session:
        run_summary.end()
        _session.pop().close()
        function_calls.restore()
        eager_operations.unwatch()
