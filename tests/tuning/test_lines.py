"""Lines on tuning: no operator counts as better whose gain no figure shows."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from npu_runtime.observers.tuning.programs.outcome import Outcome
from npu_runtime.observers.tuning.programs.program_tuner import TunedProgram
from npu_runtime.observers.tuning.programs.rules import TUNED, Decision
from npu_runtime.observers.tuning.programs.session_tuner import _lines
from npu_runtime.observers.tuning.programs.tuning_request import TuningRequest
from tf2npu.commands.tune import _program_lines

BETTER = Decision(True, False, False, False, True, TUNED)


def _program(*times: tuple[float, float]) -> TunedProgram:
    outcomes = [
        Outcome(f"op{n}", "MatMulV2", BETTER, None, before, before, after, operators={f"op{n}": (f"op{n}",)})
        for n, (before, after) in enumerate(times)
    ]
    return TunedProgram("run 1", outcomes, 1.0, datetime(2026, 1, 1))


@pytest.mark.parametrize(
    ("times", "better", "said"),
    [
        ([(100.0, 99.999), (296.1, 296.1)], 0, "396.100 to 396.099 us"),
        ([(100.0, 99.0), (296.1, 296.1)], 1, "396.1 to 395.1 us a step (0.25%)"),
        ([(1.0, 0.98), (395.1, 395.1)], 1, "396.100 to 396.080 us a step (0.01%)"),
    ],
)
def test_what_is_counted_as_better_is_shown_to_be(times, better, said):
    program = _program(*times)
    (line,) = _lines(program, TuningRequest("RL", Path("bank")))
    assert f"{better} are better now" in line and said in line
    default, after = program.us()
    operators = [
        {"name": one.name, "op_type": one.op_type, "count": 1, "compiled_with": TUNED, "default_us": one.default_us,
         "us": one.after_us}
        for one in program.outcomes
    ]  # fmt: skip
    head, *rows = _program_lines({"name": "run 1", "operators": operators, "default_us": default, "us": after, "late": 0})
    assert len(rows) == better and (said.split(" to ")[0] + " us a step untuned") in head
