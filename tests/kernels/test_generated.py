"""Calls drawn at random from every family of kernels against TensorFlow's CPU kernels.

Derandomised, 250 in every run and a thousand in `make whole`; TF2NPU_GENERATED_CASES=6000 (make acceptance) draws so many
different ones and prints how many of which op there were.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.how_many import drawn
from tests.kernels.generated import arrays, batch, elementwise, gradients, numbers, state, sums

FAMILIES = {**elementwise.FAMILIES, **arrays.FAMILIES, **sums.FAMILIES, **state.FAMILIES}
BATCH = 25
"""Calls that share a TensorFlow session."""
WANTED = int(os.environ.get("TF2NPU_GENERATED_CASES", str(drawn(1000))))
MOST_OPS = 200
"""Ops of the largest family at most: the functions that gradients are taken of are 110."""
ROUNDS = max(1, -(-WANTED * 7 // (5 * BATCH * len(FAMILIES))))
"""Batches of a family: two fifths more than needed, as calls drawn twice count once."""


ROUNDS_OF_THE_REST = 2
"""Batches from each op on that no round has drawn: the first is the simplest that there is, and the second is not."""


def problems_of(strategy: st.SearchStrategy[Any], compare: Callable[[Any], list[str]] = batch.compare) -> list[str]:
    """All that is wrong in all rounds: every call is small and named, so nothing has to be shrunk."""
    numbers.restart()
    problems = problems_in(numbers.batches(strategy, BATCH), ROUNDS, compare)
    for place in range(MOST_OPS):
        if place in numbers.not_yet_met():
            problems += problems_in(numbers.batches(strategy, BATCH, place), ROUNDS_OF_THE_REST, compare)
    assert not numbers.not_yet_met()
    return problems


def problems_in(batches: st.SearchStrategy[Any], rounds: int, compare: Callable[[Any], list[str]]) -> list[str]:
    problems: list[str] = []

    @settings(max_examples=rounds, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])  # fmt: skip
    @given(batches)
    def run(calls: Any) -> None:
        problems.extend(compare(calls))

    run()
    return problems


@pytest.mark.parametrize("family", list(FAMILIES))
def test_family(family: str) -> None:
    problems = problems_of(FAMILIES[family])
    assert not problems, "\n".join(problems)


def test_gradient_graphs() -> None:
    """Functions and TensorFlow's own gradient graphs of them, whole on the device."""
    problems = problems_of(gradients.function(), gradients.compare)
    assert not problems, "\n".join(problems)


def test_enough_were_drawn(record_property: Callable[[str, object], None]) -> None:
    """Runs last; alone or on one of several workers there is nothing to count."""
    text = ", ".join(f"{op} {n}" for op, n in sorted(batch.by_op.items()))
    record_property("figure", f"generated kernel cases: {len(batch.seen)} of {len(batch.by_op)} ops: {text}")
    assert WANTED <= 1000 or len(batch.seen) >= WANTED
