"""The request of a session's options for a dump, and the problems in these options."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INPUT, OUTPUT, ALL = "input", "output", "all"
TENSOR, STATS = "tensor", "stats"
AICORE, ATOMIC = "aicore_overflow", "atomic_overflow"
MOST_PARTS = 100
"""Numbers and ranges that dump_step may have.  Source: the documents of the session options."""
_STEPS = re.compile(r"\d{1,18}(-\d{1,18})?(\|\d{1,18}(-\d{1,18})?)*")
_PATH = "dump_path"


@dataclass(frozen=True)
class DumpRequest:
    """path: folder that exists.  looks_for: "" for a dump of every operator, else which overflows are looked for.
    steps: first and last of each range, empty for every step.  mode: which side of an operator.  layers: names in the user's
    graph, empty for all.  data: tensors, or statistics of them.
    """

    path: Path
    looks_for: str = ""
    steps: tuple[tuple[int, int], ...] = ()
    mode: str = OUTPUT
    layers: tuple[str, ...] = ()
    data: str = TENSOR

    def has_step(self, step: int) -> bool:
        """Whether a step, counted from 0, is dumped."""
        return not self.steps or any(first <= step <= last for first, last in self.steps)


def requested(parameters: Mapping[str, Any]) -> tuple[DumpRequest | None, tuple[str, ...]]:
    """The request for a dump of a session, None for none, and lines for the run log on what is wrong.

    parameters: the session's options by name; texts may be bytes.
    """
    options = {name: _text(value) for name, value in parameters.items()}
    dumps, looks = _is_on(options, "enable_dump"), _is_on(options, "enable_dump_debug")
    if not dumps and not looks:
        return None, ()
    switch = "enable_dump" if dumps else "enable_dump_debug"
    problem = _path_problem(options, switch) or _words_problem(options) or _steps_problem(options.get("dump_step", ""))
    if problem:
        return None, (f"Data dump: {problem}; nothing is dumped",)
    both = ("Data dump: enable_dump and enable_dump_debug exclude each other; enable_dump is taken",) if dumps and looks else ()
    request = DumpRequest(
        Path(options[_PATH]).absolute(),
        "" if dumps else options.get("dump_debug_mode") or ALL,
        _ranges(options.get("dump_step", "")),
        options.get("dump_mode") or OUTPUT,
        tuple(options.get("dump_layer", "").split()),
        options.get("dump_data") or TENSOR,
    )
    return request, both


def _path_problem(options: Mapping[str, str], switch: str) -> str:
    path = options.get(_PATH, "")
    if not path:
        return f"{switch} needs {_PATH}, the folder for the files"
    return "" if os.path.isdir(path) else f"{_PATH} is {path!r}, and there is no such folder; make it"


_WORDS = {"dump_mode": (INPUT, OUTPUT, ALL), "dump_data": (TENSOR, STATS), "dump_debug_mode": (AICORE, ATOMIC, ALL)}


def _words_problem(options: Mapping[str, str]) -> str:
    for name, words in _WORDS.items():
        if options.get(name) and options[name] not in words:
            return f"{name} is {options[name]!r}; use one of {', '.join(words)}"
    return ""


def _steps_problem(text: str) -> str:
    if not text:
        return ""
    if not _STEPS.fullmatch(text):
        return f"dump_step is {text!r:.60}; use numbers and ranges such as 0|5|10-12"
    for first, last in _ranges(text):
        if last < first:
            return f"dump_step has {first}-{last}, which is no step; write {last}-{first}"
    n_parts = text.count("|") + 1
    return f"dump_step has {n_parts} parts; use at most {MOST_PARTS}" if n_parts > MOST_PARTS else ""


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    ends = [part.split("-") for part in text.split("|") if part]
    return tuple((int(part[0]), int(part[-1])) for part in ends)


def _is_on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "").lower() in ("true", "1")


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str("" if value is None else value)
