"""Random graphs of all kinds of operations together: values and variables are TensorFlow's, run after run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.kernels.oracle import plain_session
from tests.runtime.device import compile_in_another_way, device_session
from tests.runtime.random_graphs import Maker

N_RUNS = 4
NARROW = {tf.float16: 4e-3, tf.bfloat16: 3e-2}
"""The error that a value may have, relative to the largest, when a type of few bits is on the way to it."""


class Trio:
    """Sessions on one graph: TensorFlow, TensorFlow on inputs moved in their last bits, and the device."""

    def __init__(self, made: Maker, seed: int) -> None:
        self.made, self.random = made, np.random.default_rng(seed)
        self.initializer = tf.variables_initializer(made.variables)
        self.sessions = [plain_session(), plain_session(), device_session()]
        for session in self.sessions:
            session.run(self.initializer)
        types = {output.dtype.base_dtype for op in tf.get_default_graph().get_operations() for output in op.outputs}
        self.tolerance = max([2e-5, *(NARROW[dtype] for dtype in types & NARROW.keys())])

    def run(self) -> None:
        """Some values and updates, with feeds of one batch size; then the variables.  Raises: AssertionError."""
        shown = self.made.shown
        fetches = [shown[i] for i in self.random.integers(0, len(shown), 5)] + shown[-2:]
        targets = [op for op in self.made.updates if self.random.random() < 0.3]
        feeds = self._feeds(int(self.random.choice([1, 3, 5])))
        if not self._is_accepted(fetches, targets, feeds):
            return
        self._compare([t.name for t in fetches], [s.run([fetches, targets], f)[0] for s, f in self._fed(feeds)])
        self._compare([v.name for v in self.made.variables], [s.run(self.made.variables) for s in self.sessions])
        self._align()

    def _is_accepted(self, fetches: Any, targets: Any, feeds: Any) -> bool:
        """Whether TensorFlow runs it, in a session of its own: batches of unequal size may meet."""
        with plain_session() as session:
            session.run(self.initializer)
            try:
                session.run([fetches, targets], feeds)
            except tf.errors.InvalidArgumentError:
                return False
        return True

    def _feeds(self, batch: int) -> dict[Any, np.ndarray]:
        return {x: self._numbers(x, [n or batch for n in x.shape.as_list()]) for x in self.made.placeholders}

    def _numbers(self, x: Any, shape: list[int]) -> np.ndarray:
        return np.asarray(self.random.normal(size=shape) * 1.5).astype(x.dtype.as_numpy_dtype)

    def _fed(self, feeds: Mapping[Any, np.ndarray]) -> list[tuple[Any, Mapping[Any, np.ndarray]]]:
        moved = {x: self._moved(value) for x, value in feeds.items()}
        return list(zip(self.sessions, (feeds, moved, feeds), strict=True))

    def _moved(self, value: np.ndarray) -> np.ndarray:
        if value.dtype.kind != "f":
            return value
        factor = 1 + 16 * np.finfo(value.dtype).eps * self.random.uniform(-1, 1, value.shape)
        return np.asarray(value * factor, value.dtype)

    def _align(self) -> None:
        """Every session goes on with TensorFlow's variables, one of them moved."""
        for variable, value in zip(self.made.variables, self.sessions[0].run(self.made.variables), strict=True):
            variable.load(self._moved(value), self.sessions[1])
            variable.load(value, self.sessions[2])

    def _compare(self, names: list[str], results: list[list[np.ndarray]]) -> None:
        for name, theirs, moved, mine in zip(names, *results, strict=True):
            assert (theirs.dtype, theirs.shape) == (mine.dtype, mine.shape), name
            a, b, c = (np.asarray(x, np.float64) for x in (theirs, moved, mine))
            spread = np.abs(a - b).max(initial=0.0)
            if np.isfinite(spread) and spread <= self.tolerance * 100 * np.abs(a).max(initial=0.0):
                allowed = self.tolerance * max(np.abs(a).max(initial=0.0), 1e-3) * (theirs.dtype.kind not in "bi")
                np.testing.assert_allclose(c, a, rtol=0, atol=allowed + 10 * spread, err_msg=name)


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("seed", range(14))
def test_same_as_tensorflow(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_in_another_way(seed, monkeypatch)
    with tf.Graph().as_default():
        made = Maker(seed, shows_memory=seed % 3 > 0)
        made.grow(60)
        trio = Trio(made, seed)
        for _ in range(N_RUNS):
            trio.run()
