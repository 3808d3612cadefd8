"""Public functions of TensorFlow with their gradients: the same numbers from a session on the device as from TensorFlow's own.

One call in nine of tools/op_inventory/recipes.txt in every run, all of them when TF2NPU_GENERATED_CASES is set.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.kernels.oracle import plain_session
from tests.runtime.device import device_session
from tools.op_inventory import build

DRAWN = (
    "Random", "Truncated", "Multinomial", "Sampler", "Shuffle", "Fractional", "Distorted", "Dropout", "Glimpse", "Generator",
)  # fmt: skip
"""In names of ops: what they give differs from session to session, or is TensorFlow's choice."""
CHOSEN_BY_LAPACK = ("Svd", "SelfAdjointEigV2", "Qr", "Lu")
HOST = ("Queue", "Decode", "ExtractJpegShape", "SaveV2", "Print", "Iterator", "Empty", "ApproxTopK", "Quantized")
"""They need files, threads or texts that no default stands for, or show what was in memory."""
CONDITION = {"linalg.expm": 1e-3, "root.matrix_square_root": 1e-2, "root.matrix_solve_ls": 1e-3, "linalg.lstsq": 1e-3}
"""Tolerances of functions whose errors of fp32 grow by the condition of the matrix."""


def comparable() -> list[str]:
    """Names whose graphs give the same numbers in every session."""
    every = build.recipes()
    return sorted(name for name, expression in every.items() if expression)


CALLS = comparable() if "TF2NPU_GENERATED_CASES" in os.environ else comparable()[::9]


@pytest.mark.parametrize("name", CALLS)
def test_same_numbers(name: str) -> None:
    tf.disable_v2_behavior()
    expression = build.recipes()[name]
    assert expression is not None
    graph = build.build(expression)
    ops = set(build.used_types(graph))
    if name.startswith("keras.metrics.") or any(word in op for op in ops for word in (*DRAWN, *CHOSEN_BY_LAPACK, *HOST)):
        return  # only that it can be built is known; its ops have tests of their own
    with graph.as_default():
        results = [t for t in tf.get_collection(build.RESULTS) if _is_value(t)]
        if name.startswith("metrics."):
            results = results[1:]
        starts = [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        states = [v for v in tf.global_variables() if v.dtype.is_floating]
        with plain_session() as session:
            theirs = _run(session, starts, results, states)
        with device_session() as session:
            mine = _run(session, starts, results, states)
    for ours, other in zip(mine, theirs, strict=True):
        _assert_same(np.asarray(ours), np.asarray(other), CONDITION.get(name, 2e-5))


def _is_value(result: Any) -> bool:
    return isinstance(result, tf.Operation) or (isinstance(result, tf.Tensor) and result.dtype not in (tf.resource, tf.variant))


def _run(session: Any, starts: list[Any], results: list[Any], states: list[Any]) -> list[Any]:
    """Results after the initialisers, then the variables."""
    for start in starts:
        session.run(start)
    values = [value for value in session.run(results) if value is not None]
    return [*values, *session.run(states)]


def _assert_same(mine: np.ndarray, theirs: np.ndarray, relative: float) -> None:
    assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
    if theirs.dtype.kind in "fc":
        scale = np.abs(theirs).max(initial=0.0, where=np.isfinite(theirs))
        np.testing.assert_allclose(mine, theirs, rtol=relative, atol=relative * scale + 2e-6)
    else:
        np.testing.assert_array_equal(mine, theirs)
