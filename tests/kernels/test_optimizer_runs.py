"""Twenty steps of every optimizer: what one step differs by must not grow."""

from __future__ import annotations

import numpy as np

from npu_runtime.device.variable import Variable
from tests.kernels import oracle
from tests.kernels.cases.training import optimizer, optimizer_sparse
from tests.kernels.harness import Case, call, case_ids
from tests.one_item import together

N_STEPS = 20


def is_wide_and_small(one: Case) -> bool:
    start = one.inputs[0].value
    return start.dtype == np.float32 and start.size < 100


WIDE = [one for one in (*optimizer.CASES, *optimizer_sparse.CASES) if is_wide_and_small(one)]


@together("one", WIDE, case_ids(WIDE), by=lambda one: one.op)
def test_twenty_steps(one: Case) -> None:
    inputs = one.flat()
    for _ in range(N_STEPS):
        call(one, inputs)
    _, expected = oracle.run(one, N_STEPS)
    for mine, theirs in zip([v for v in inputs if isinstance(v, Variable)], expected, strict=True):
        largest = np.abs(theirs).max() if theirs.size else 0.0
        np.testing.assert_allclose(mine.read(), theirs, rtol=1e-5, atol=1e-5 * largest)
