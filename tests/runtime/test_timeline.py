"""Recording of a run for its report: spans of who worked, and curves of numbers, however long it takes."""

from __future__ import annotations

import itertools
import math
import time

from hypothesis import given
from hypothesis import strategies as st

from npu_formats.environment import TF2NPU_RECORD
from npu_runtime.observers.run_recorder import run_recorder
from npu_runtime.trace import timeline
from npu_runtime.trace.run_log import KeptOfProgram, ProgramRecord
from npu_runtime.trace.scalars import MOST_NUMBERS, MOST_POINTS, Curve, keep
from npu_runtime.trace.timeline import COMPILE, DEVICE, HOST, MOST_SPANS, STREAMS, WAITING, Recording, Spans


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), max_size=600))
def test_spans_are_few_in_order_and_lose_no_work(gaps):
    spans, now, work = Spans(), 0.0, 0.0
    for gap, length in gaps:
        spans.add(now + gap, now + gap + length)
        now, work = now + gap + length, work + length
    assert len(spans.spans) <= MOST_SPANS
    assert math.isclose(sum(busy for _, _, busy in spans.spans), work, abs_tol=1e-6)
    edges = [moment for start, end, _ in spans.spans for moment in (start, end)]
    assert edges == sorted(edges)
    assert all(busy <= end - start + 1e-6 for start, end, busy in spans.spans)


def test_a_step_belongs_to_the_device_but_for_what_others_did():
    made = Recording()
    time.sleep(0.02)
    with made.step():
        with made.span(COMPILE):
            time.sleep(0.03)
            with made.span(HOST):
                time.sleep(0.01)
        time.sleep(0.05)
    time.sleep(0.02)
    told = made.document()
    seconds = {stream["name"]: stream["seconds"] for stream in told["streams"]}
    assert list(seconds) == list(STREAMS)
    assert seconds[COMPILE] >= 0.04 and seconds[HOST] >= 0.01 and seconds[DEVICE] >= 0.05 and seconds[WAITING] >= 0.04
    assert math.isclose(seconds[COMPILE] + seconds[DEVICE] + seconds[WAITING], told["seconds"], rel_tol=0.02)


def test_nothing_is_kept_where_nobody_asks(monkeypatch):
    monkeypatch.delenv(TF2NPU_RECORD, raising=False)
    timeline.recording.cache_clear()
    assert run_recorder() is None
    timeline.recording.cache_clear()


def test_a_curve_keeps_its_ends_and_some_of_its_steps():
    curves: dict[str, Curve] = {}
    for step in range(1, 10_001):
        keep(curves, "loss:0", step, 1 / step)
    curve = curves["loss:0"]
    assert (curve.first, curve.last) == (1.0, 1e-4)
    assert MOST_POINTS / 2 <= len(curve.points) <= MOST_POINTS
    assert all(value == 1 / step for step, value in curve.points)
    steps = [step for step, _ in curve.points]
    assert steps[0] == 1 and len({b - a for a, b in itertools.pairwise(steps)}) == 1


def test_only_the_first_numbers_are_kept_and_none_without_a_report():
    import numpy as np

    names = tuple(f"n{number}:0" for number in range(MOST_NUMBERS + 3))
    values = [np.float32(1.5)] * len(names)
    plain, kept = ProgramRecord(names), ProgramRecord(names, kept=KeptOfProgram())
    for record in (plain, kept):
        record.count_run([*values[:-1], np.float32(2.0)])
        record.count_run([np.ones(2), *values[1:]])
    assert plain.kept is None and kept.kept is not None
    assert list(kept.kept.numbers) == list(names[:MOST_NUMBERS])
    assert kept.kept.numbers["n0:0"].points == [(1, 1.5)]
