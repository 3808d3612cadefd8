"""Result files of tuning, as the vendor's tools write and read them.

Source: listing 5-59 of the textbook on the Ascend processor for auto_tune_mode; the vendor's document of AOE for aoe_mode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from npu_formats.vendor.tune_result import FLAGS, percent
from npu_runtime.observers.tuning.programs.outcome import Outcome

_TIME = r"(?P<day>\d{8})_(?P<time>\d{9})"
_NAMES = (re.compile(rf"tune_result_pid(?P<pid>\d+)_{_TIME}\.json"), re.compile(rf"tune_result_{_TIME}_pid(?P<pid>\d+)\.json"))
"""The name of the textbook, and the one of files found in the wild."""


def _stamp(when: datetime) -> str:
    return f"{when:%Y%m%d_%H%M%S}{when.microsecond // 1000:03d}"


def tune_result_name(pid: int, when: datetime) -> str:
    """The name of a result file of auto_tune_mode."""
    return f"tune_result_pid{pid}_{_stamp(when)}.json"


def aoe_result_name(pid: int, when: datetime) -> str:
    """The name of a result file of aoe_mode."""
    return f"aoe_result_opat_{_stamp(when)}_pid{pid}.json"


def read_name(name: str) -> tuple[int, datetime] | None:
    """The process and the time that a name tells, in either order; None for a name of no result file."""
    for pattern in _NAMES:
        found = pattern.fullmatch(name)
        if found:
            try:
                return int(found["pid"]), datetime.strptime(f"{found['day']}{found['time']}000", "%Y%m%d%H%M%S%f")
            except ValueError:
                return None
    return None


def tune_result(outcomes: Iterable[Outcome]) -> str:
    """The text of a result file of auto_tune_mode.  Where two operators have the same members, as a product and the cast of its
    operand have, the later one's own name stands behind them."""
    made: dict[str, Any] = {}
    for one in outcomes:
        key = repr([list(members) for members in one.operators.values()])
        if key in made:
            key = repr([[*members, name] for name, members in one.operators.items()])
        made[key] = _value(one)
    return json.dumps(made, indent=4, sort_keys=True) + "\n"


def _value(outcome: Outcome) -> dict[str, Any]:
    decision = outcome.decision
    flags = dict(zip(FLAGS, (decision.append, decision.hit, decision.reserved, decision.update), strict=True))
    if not decision.shows_times:
        return {"status_data": flags}
    times = {"after_tune": _whole(outcome.after_us), "before_tune": _whole(outcome.before_us)}
    return {"result_data": times, "status_data": flags, "ticks_best": [f"[{_whole(us)}, {when}]" for us, when in outcome.rounds]}


def _whole(us: float) -> int:
    """Whole microseconds, as the listing has them; no operator takes none."""
    return max(1, round(us))


def aoe_result(outcomes: Sequence[Outcome], name: str, seconds: float) -> str:
    """The text of a result file of aoe_mode, in the newer layout.  name: of the tuning.  seconds: that it took."""
    before, after = totals(outcomes)
    modified = [_modified(one) for one in outcomes if one.decision.stores]
    opat = {
        "model_baseline_performance(ms)": round(before / 1000, 6),
        "model_performance_improvement": percent(before, after),
        "model_result_performance(ms)": round(after / 1000, 6),
        "opat_tuning_result": "tuning successful",
        "repo_modified_operators": modified,
    }
    return json.dumps([{"basic": {"tuning_name": name, "tuning_time(s)": round(seconds)}}, {"OPAT": opat}], indent=4) + "\n"


def _modified(outcome: Outcome) -> dict[str, Any]:
    times = {
        "performance_after_tune(us)": round(outcome.after_us, 3),
        "performance_before_tune(us)": round(outcome.before_us, 3),
        "performance_improvement": percent(outcome.before_us, outcome.after_us),
        "update_mode": "update" if outcome.decision.update else "add",
    }
    return {"op_name": outcome.name, "op_type": outcome.op_type, "tune_performance": {"Format": times}}


def totals(outcomes: Iterable[Outcome]) -> tuple[float, float]:
    """Microseconds of all operators before and after."""
    pairs = [(len(one.operators) * one.before_us, len(one.operators) * one.after_us) for one in outcomes]
    return sum(before for before, _ in pairs), sum(after for _, after in pairs)
