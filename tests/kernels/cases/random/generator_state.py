"""States of generators that are read and moved on, by steps and with carries."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, Var, case, scalar

PHILOX, AUTO = 1, 3


def skipped(*state: int, by: int = 1, alg: int = PHILOX) -> Case:
    """A call on a state, which is moved by a number of outputs."""
    return case("RngReadAndSkip", Var(np.array(state, np.int64)), scalar(alg, "int32"), scalar(by, "uint64"))


CASES = [
    *[skipped(7, 9, 5, by=n) for n in (0, 1, 3, 2**40, 2**60, 2**64 - 1)],
    *[skipped(-1, high, 5) for high in (9, -1)],
    skipped(-300, 2, -5, by=2),
    skipped(1, 2, 3, alg=AUTO),
]
