"""Options of profiling: the JSON text that sessions, the environment and configurations give, and what each key means.

Keys, values and defaults: the vendor's documents of ProfilingConfig and of PROFILING_OPTIONS.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from npu_runtime.observers.profiler.aic_metrics import GROUPS

LEVEL_1, LEVEL_0, OFF = "l1", "l0", "off"
"""Levels of the collection of tasks: all; names and times alone; nothing."""
DEFAULT_METRICS = "PipeUtilization"
"""The group of counters when none is asked for."""
_MEGABYTE = 1024 * 1024
"""Bytes of the unit of storage_limit."""
LEAST_STORAGE_MB = 200
"""The least storage_limit, MB. Source: the vendor's document of the option."""
_COLLECTED_ELSEWHERE = {
    "l2", "msproftx", "runtime_api", "task_tsfw", "aicpu_profiling", "dvpp_profiling", "llc_profiling",
    "sys_hardware_mem_freq", "sys_io_sampling_freq", "sys_interconnection_freq", "dvpp_freq", "instr_profiling_freq",
    "host_sys", "host_sys_usage", "host_sys_usage_freq", "sys_cpu_profiling", "sys_profiling", "sys_pid_profiling", "ge_api",
    "power", "mstx_domain_include", "mstx_domain_exclude", "delay", "duration", "hccl_trace",
}  # fmt: skip
"""Options of the device that collect what a simulation does not have, such as loads of its host."""


@dataclass(frozen=True)
class ProfilingOptions:
    """output: folder, "" for ASCEND_WORK_PATH or the current one.  training_trace: whether steps are told.  task_trace: one
    of LEVEL_1, LEVEL_0, OFF.  aicpu, hccl: whether there are files of AI CPU tasks and of collectives.  fp_point, bp_point:
    names, "" for what is found.  aic_metrics: a group of counters.  storage_limit_mb: of a folder, None for no limit.
    """

    output: str = ""
    training_trace: bool = False
    task_trace: str = LEVEL_1
    aicpu: bool = False
    hccl: bool = False
    fp_point: str = ""
    bp_point: str = ""
    aic_metrics: str = DEFAULT_METRICS
    storage_limit_mb: int | None = None

    @property
    def with_collectives(self) -> bool:
        """Whether collectives are told: like tensors of operators, from level 1 on."""
        return self.hccl and self.task_trace == LEVEL_1

    @property
    def storage_limit_bytes(self) -> int | None:
        """The limit of a folder in bytes."""
        return None if self.storage_limit_mb is None else self.storage_limit_mb * _MEGABYTE


@dataclass(frozen=True)
class ReadOptions:
    """options: None where the text cannot be read, and nothing is profiled.  warnings: a sentence each."""

    options: ProfilingOptions | None
    warnings: tuple[str, ...]


def read_options(text: str | None, where: str = "profiling_options") -> ReadOptions:
    """The options of a JSON text.  where: how a message names it.

    Line ends and blanks inside names come from printed listings; they are taken out, with a warning. What is unknown or wrong
    is said and left at its default, as the training goes on.
    """
    if not text or not text.strip():
        return ReadOptions(ProfilingOptions(), ())
    warnings: list[str] = []
    try:
        found = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        found = _over_lines(text, where, warnings)
        if found is None:
            return ReadOptions(None, (_unreadable(text, error, where),))
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets nested as deep
        return ReadOptions(None, (f"{where}: no JSON text: {str(error).partition(';')[0]}; nothing is profiled.",))
    if not isinstance(found, dict):
        return ReadOptions(None, (f"{where}: must be a JSON object such as {_EXAMPLE}, got {text[:80]!r}; nothing is profiled.",))
    return ReadOptions(_options(found, where, warnings), tuple(warnings))


_EXAMPLE = '{"output": "/path", "training_trace": "on", "task_trace": "on"}'
"""Example of correct options in messages."""


def _over_lines(text: str, where: str, warnings: list[str]) -> Any:
    """The value of a text whose lines were broken where JSON has none, or None."""
    lines = text.strip().split("\n")
    joined = "".join(line.strip().removesuffix("\\") for line in lines[:-1]) + lines[-1].lstrip()
    try:
        found = json.loads(joined)
    except (ValueError, RecursionError):
        return None
    warnings.append(f"{where}: line ends inside the JSON text were taken out; write it on one line.")
    return found


def _unreadable(text: str, error: json.JSONDecodeError, where: str) -> str:
    near = text[max(0, error.pos - 20) : error.pos + 20]
    return (
        f"{where}: no JSON text at line {error.lineno}, column {error.colno} (near {near!r}): {error.msg}. Nothing is profiled; "
        f"write an object such as {_EXAMPLE}."
    )


def _options(found: Mapping[str, Any], where: str, warnings: list[str]) -> ProfilingOptions:
    options = ProfilingOptions()
    for spelled, value in found.items():
        key = _cleaned("a key", spelled, where, warnings)
        read = _READERS.get(key)
        if read is None:
            warnings.append(_unknown_key(key, where))
            continue
        cleaned = _cleaned(key, value, where, warnings)
        try:
            options = replace(options, **read(cleaned))
        except ValueError as problem:
            warnings.append(f"{where}: {key} must be {problem}, got {value!r}; its default is used.")
    return options


def _unknown_key(key: str, where: str) -> str:
    if key in _COLLECTED_ELSEWHERE:
        return f"{where}: {key} is not simulated; its files are not written."
    near = difflib.get_close_matches(key, _READERS, 1)
    hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(_READERS)}."
    return f"{where}: {key!r} is no option of profiling{hint}"


def _cleaned(key: str, value: Any, where: str, warnings: list[str]) -> Any:
    """A name without line ends and blanks: names of nodes have none. A folder loses line ends only."""
    if not isinstance(value, str):
        return value
    blanks = r"\s*[\r\n]\s*" if key == "output" else r"\s+"
    cleaned = re.sub(blanks, "", value)
    if cleaned != value:
        warnings.append(f"{where}: blanks or line ends inside {key} were taken out; it is read as {cleaned!r}.")
    return cleaned


def _switch(option: str) -> Any:
    def read(value: Any) -> dict[str, Any]:
        if value not in ("on", "off"):
            raise ValueError('"on" or "off"')
        return {option: value == "on"}

    return read


def _task_trace(value: Any) -> dict[str, Any]:
    levels = {"on": LEVEL_1, "l1": LEVEL_1, "l2": LEVEL_1, "l0": LEVEL_0, "off": OFF}
    if not isinstance(value, str) or value not in levels:
        raise ValueError('"on", "l0", "l1" or "off"')
    return {"task_trace": levels[value]}


def _text(option: str) -> Any:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, str):
            raise ValueError("a text")
        return {option: value}

    return read


def _metrics(value: Any) -> dict[str, Any]:
    if not isinstance(value, str) or value not in GROUPS:
        raise ValueError(f"one of {', '.join(GROUPS)}")
    return {"aic_metrics": value}


def _storage_limit(value: Any) -> dict[str, Any]:
    read = re.fullmatch(r"(\d{1,12})\s*MB", value) if isinstance(value, str) else None
    if not read or int(read[1]) < LEAST_STORAGE_MB:
        raise ValueError(f'megabytes from "{LEAST_STORAGE_MB}MB" on')
    return {"storage_limit_mb": int(read[1])}


_READERS = {
    "output": _text("output"),
    "training_trace": _switch("training_trace"),
    "task_trace": _task_trace,
    "task_time": _task_trace,
    "aicpu": _switch("aicpu"),
    "hccl": _switch("hccl"),
    "fp_point": _text("fp_point"),
    "bp_point": _text("bp_point"),
    "aic_metrics": _metrics,
    "storage_limit": _storage_limit,
}
"""Readers of the value of each key into fields of ProfilingOptions. A reader raises ValueError that names the accepted values."""
