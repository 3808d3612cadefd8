"""The request for a profile, and the folder for it: of a session's options, the environment, or a Profiler block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_runtime.observers.profiler.settings import DEFAULT_METRICS, LEVEL_0, LEVEL_1, ProfilingOptions, read_options

MODE, OPTIONS = "profiling_mode", "profiling_options"
"""Names of the session's options."""
MODE_VARIABLE, OPTIONS_VARIABLE = "PROFILING_MODE", "PROFILING_OPTIONS"
"""Names of the same in the environment."""
WORK_PATH = "ASCEND_WORK_PATH"
"""Variable with the folder of what has none; without it the current folder serves."""


@dataclass(frozen=True)
class ProfilingRequest:
    """options: what to collect.  output: folder.  make: whether it is made where it is missing."""

    options: ProfilingOptions
    output: Path
    make: bool


def requested(parameters: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[ProfilingRequest | None, tuple[str, ...]]:
    """The request for a profile of a session, None for none, and warnings to log.

    The session's option wins over the environment. Its output must exist; one of the environment is made. Source: the vendor's
    documents of both.  parameters: the session's options by name; texts may be bytes.
    """
    if parameters.get(MODE):
        text, where, make = _text(parameters.get(OPTIONS)), OPTIONS, False
    elif environment.get(MODE_VARIABLE, "").strip().lower() == "true":
        text, where, make = environment.get(OPTIONS_VARIABLE, ""), OPTIONS_VARIABLE, True
    else:
        return None, ()
    read = read_options(text, where)
    if read.options is None:
        return None, read.warnings
    return ProfilingRequest(read.options, output_of(read.options, environment), make), read.warnings


def of_block(level: str, aic_metrics: str, output_path: str, environment: Mapping[str, str]) -> ProfilingRequest:
    """The request of a Profiler block: names and times with L0, all with L1 and L2.

    level: "L0", "L1" or "L2".  aic_metrics: a group of counters, "" for the default one.  output_path: "" as above.
    """
    options = ProfilingOptions(
        output=output_path,
        training_trace=True,
        task_trace=LEVEL_0 if level == "L0" else LEVEL_1,
        aicpu=level != "L0",
        hccl=level != "L0",
        aic_metrics=aic_metrics or DEFAULT_METRICS,
    )
    return ProfilingRequest(options, output_of(options, environment), make=True)


def output_of(options: ProfilingOptions, environment: Mapping[str, str]) -> Path:
    """The folder that profiles go to."""
    return Path(options.output or environment.get(WORK_PATH) or ".")


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
