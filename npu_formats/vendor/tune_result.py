"""Result files of AutoTune, as they are read.

Source: listing 5-59 of the textbook on the Ascend processor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FLAGS = ("bank_append", "bank_hit", "bank_reserved", "bank_update")
_TICK = re.compile(r"\[\s*(?P<us>\d+(?:\.\d+)?)\s*,\s*(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\]")


@dataclass(frozen=True)
class TunedOperator:
    """An entry of a result file.  operators: the members of each that it is about.  flags: by name.  before_us, after_us: None
    where nothing was tuned now.  ticks: microseconds after each round, and when it ended.
    """

    operators: tuple[tuple[str, ...], ...]
    flags: Mapping[str, bool]
    before_us: int | None = None
    after_us: int | None = None
    ticks: tuple[tuple[float, str], ...] = ()


def read_tune_result(text: str) -> list[TunedOperator]:
    """The entries of a result file of auto_tune_mode, whoever wrote it.  Raises: ValueError, which says what is wrong."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(found, dict) or not all(isinstance(value, dict) and "status_data" in value for value in found.values()):
        raise ValueError("it is no result file of AutoTune: each of its values has status_data")
    return [_read_entry(key, value) for key, value in found.items()]


def _read_entry(key: str, value: Mapping[str, Any]) -> TunedOperator:
    flags, times, ticks = value["status_data"], value.get("result_data", {}), value.get("ticks_best", [])
    is_right = isinstance(flags, dict) and isinstance(times, dict) and isinstance(ticks, list)
    if not is_right or not all(isinstance(us, int) for us in times.values()):
        raise ValueError(f"the entry {key[:80]} has values of other types than a result file has")
    if ("before_tune" in times) != ("after_tune" in times):
        raise ValueError(f"the entry {key[:80]} has only one of before_tune and after_tune")
    read = [_TICK.fullmatch(str(tick)) for tick in ticks]
    if not all(read):
        raise ValueError(f"the entry {key[:80]} has ticks_best that are no pairs of time and date")
    made = tuple((float(tick["us"]), tick["when"]) for tick in read if tick)
    known = {name: flags.get(name) is True for name in FLAGS}
    return TunedOperator(_read_key(key), known, times.get("before_tune"), times.get("after_tune"), made)


def _read_key(key: str) -> tuple[tuple[str, ...], ...]:
    """[op/name], or a list of lists of quoted names."""
    groups = re.findall(r"\[([^\[\]]*)\]", key)
    if not groups:
        raise ValueError(f"the key {key[:80]} is no list of operators")
    return tuple(tuple(part.strip().strip("'\"") for part in group.split(",")) for group in groups)


def percent(before: float, after: float) -> str:
    """The share by which the time has become shorter, in per cent of the time before."""
    return f"{100 * (before - after) / before if before else 0.0:.2f}%"
