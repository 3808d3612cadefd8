"""The run log of a process that opened the device, on stderr at its end, and as a document for a report."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

from npu_device._execution import eager_operations

from npu_formats.environment import TF2NPU_LOG
from npu_formats.session_options import table, without_effect
from npu_runtime.session import rank_report
from npu_runtime.session.function_session import FunctionSession
from npu_runtime.session.session_state import run_log
from npu_runtime.trace.evidence import document as evidence
from npu_runtime.trace.timeline import recording

_NOTHING = "only what tf.function decorates does; eager operations run on the CPU"
_ALWAYS = ("hcom_parallel", True)
"""The option that npu_device gives the device where nobody asks for anything; it counts on the clock of several workers."""
_session: list[FunctionSession] = []


def begin(session: FunctionSession) -> None:
    """Tell of a session when the process ends."""
    _session[:] = [session]
    rank_report.install()
    atexit.register(_print_log)


def end() -> None:
    """Tell nothing any more."""
    atexit.unregister(_print_log)
    _session.clear()


def _print_log() -> None:
    """Print the log, whole when TF2NPU_LOG is "full"."""
    log, session = run_log(), _session[0]
    lines = log.digest() + (log.summary() if os.environ.get(TF2NPU_LOG) in ("full", "debug") else [])
    lines += [f"  {line}" for line in session.log.lines(session.residency.copies, eager_operations.counts)]
    lines += _without_effect_line(session) if lines else [none_on_device()]
    _print(lines)


def print_unopened() -> None:
    """Say that a script which `tf2npu run` prepared this process for did not open the device."""
    if not _session:
        _print(list(filter(None, [none_on_device()])))


def _print(lines: list[str]) -> None:
    if sys.stderr is not None:
        print("\n".join(f"npu_runtime: {line}" for line in lines), file=sys.stderr)


def none_on_device() -> str:
    """A line for a process that meant to use the device and did not; "" for one that did, be it by npu_device.compat.v1."""
    if run_log().digest():
        return ""
    if not _session:
        return "no function ran on the device: the script imports npu_device and does not call npu_device.open().as_default()"
    return f"no function ran on the device: {_NOTHING}"


def _without_effect_line(session: FunctionSession) -> list[str]:
    shown = [name if effect == "recorded" else f"{name} ({effect})" for name, effect in _without_effect(session)]
    return [f"  options without effect here: {', '.join(shown)}"] if shown else []


def _without_effect(session: FunctionSession) -> list[tuple[str, str]]:
    asked = {name: value for name, value in session.config.parameters.items() if (name, value) != _ALWAYS}
    return sorted(
        without_effect({name: (table()[name].field, value) for name, value in asked.items() if name in table()}).items()
    )


def run_document() -> dict[str, Any]:
    """The report's document on this process: the run log, what is told of functions, options without effect, the other ranks,
    and evidence with a timeline where they are recorded.
    """
    log, kept, ranks = run_log(), recording(), rank_report.ranks()
    functions, ignored = {}, []
    if _session:
        functions = _session[0].log.document(_session[0].residency.copies, eager_operations.counts)
        ignored = [{"option": name, "effect": effect} for name, effect in _without_effect(_session[0])]
    told = {} if kept is None else {**evidence(log), "timeline": kept.document()}
    told |= {"ranks": ranks} if ranks else {}
    left: dict[str, list[str]] = {"sessions_left_open": [], "sessions_on_tensorflow": []}
    return {**log.document(), **functions, "options_without_effect": ignored, **left, **told}
