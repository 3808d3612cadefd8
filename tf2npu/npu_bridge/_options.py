"""Checks the options of a NpuOptimizer entry when its session is made, and tells them at debug level."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npu_bridge._host_differences import accept, accept_value
from npu_bridge._log import log, once

from npu_formats.session_options import Given, problems, table, without_effect

_DUMPS = ("enable_dump", "enable_dump_debug", "dump_path", "dump_step", "dump_mode", "dump_debug_mode")
_TYPES = {"b": bool, "s": str}
_FILES = ("modify_mixlist", "customize_dtypes")  # options that name a file which the device reads
# Filled as sessions are made, for the run log: option -> what happens instead of it.
ignored: dict[str, str] = {}
# Options that npu_plugin.npu_resource_init gave the whole process; a session's own win over them.
of_process: dict[str, Any] = {}


def given(entry: Any) -> Given:
    """The options of an entry: name -> (field, value), text decoded."""
    found = {}
    for name, value in entry.parameter_map.items():
        field = value.WhichOneof("value") or "s"
        plain = getattr(value, field)
        found[name] = field, plain.decode("utf-8", "replace") if isinstance(plain, bytes) else plain
    return found


def note_launched(parameters: Mapping[str, Any]) -> None:
    """Keep for the run log which of the launcher's options change nothing here."""
    ignored.update(without_effect({name: (table()[name].field, value) for name, value in parameters.items() if name in table()}))


def check_dump(parameters: Mapping[str, Any]) -> None:
    """Check, as `check` does, dumps that the launcher and the script ask for together; in strict mode what they lack stops the
    process."""
    fields = {name: table()[name].field for name in _DUMPS if name in parameters}
    options = {name: (field, parameters[name]) for name, field in fields.items() if isinstance(parameters[name], _TYPES[field])}
    for problem in problems(options):  # a value in a wrong field has been told
        if problem.stops:
            accept_value(problem.text)


def check(entry: Any) -> None:
    """Say once what is wrong with the options, or has no effect here; it stops in strict mode only, where a host would."""
    options = given(entry)
    for name, (_, value) in sorted(options.items()):
        log.debug("session option %s = %r", name, value)
    for name in _FILES:
        path = str(options.get(name, ("", ""))[1])
        if path and not Path(path).exists():
            accept("option_file", f"{name}={path}")
    for problem in problems(options):
        if problem.stops:
            accept_value(problem.text)
        else:
            once(problem.text)
    for name, effect in without_effect(options).items():
        ignored[name] = effect
        if effect != "recorded":
            once(f"session option {name!r} is accepted and recorded: {effect}")
