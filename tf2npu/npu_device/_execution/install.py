"""The switch: from here on, functions that eager code calls run on the simulated device."""

from __future__ import annotations

import atexit
from collections.abc import Mapping

from npu_device._execution import eager_operations, function_calls, run_summary

from npu_formats.user_frames import calling_line
from npu_runtime.config import load_config
from npu_runtime.session.function_session import FunctionSession

_session: list[FunctionSession] = []


def install(options: Mapping[str, str]) -> FunctionSession:
    """Run functions on the device from now on.  options: as the session reads them; those of the first call count.

    Raises: npu_runtime.errors.DeviceError for an option that is refused.
    """
    if not _session:
        session = FunctionSession(load_config(options), place=calling_line())
        eager_operations.watch(session.residency, session.restart_generators)
        function_calls.run_on(session)
        atexit.register(run_summary.print_log, session)
        _session.append(session)
    return _session[0]


def session() -> FunctionSession | None:
    """The session of this process, None before the device is the default."""
    return _session[0] if _session else None


def uninstall() -> None:
    """Give TensorFlow its own functions back, and all variables their values."""
    if _session:
        atexit.unregister(run_summary.print_log)
        _session.pop().close()
        function_calls.restore()
        eager_operations.unwatch()
