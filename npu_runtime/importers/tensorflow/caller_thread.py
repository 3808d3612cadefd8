"""Short calls of the host's session on the thread that makes them: waking one of TensorFlow's takes 0.1 to 0.2 ms.

Source: RunOptions.inter_op_thread_pool in TensorFlow's config.proto, where -1 stands for the caller's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from math import inf
from time import perf_counter
from typing import Any

from npu_runtime.autotune import Autotune

Call = Callable[..., Any]

MOST_NODES = 32
"""Nodes of the largest call that is tried on the caller's thread: TensorFlow runs what becomes ready within the call that made it
so, node within node."""
SURELY_SHORT = 3e-4
"""Seconds of a call that several threads could hardly make shorter."""
REPEATS = 3
"""Calls of each kind. The shortest time of them counts."""
_WAIT_FOR_OTHERS = ("Stage", "Unstage", "MapStage", "MapUnstage", "OrderedMap", "RecordInput")
"""Beginnings of the names of ops that hold their thread until another one has done its part."""
_ANYTHING = frozenset({
    "PyFunc", "PyFuncStateless", "EagerPyFunc", "PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "SymbolicGradient",
    "If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "Enter", "RefEnter",
})  # fmt: skip
"""Ops behind which there may be anything: any number of other nodes, or a user's function, which may run the session itself."""


def may_run_in_caller(ops: Iterable[str]) -> bool:
    """Whether nodes of these ops, together, need no thread but one and are few."""
    ops = list(ops)
    return len(ops) <= MOST_NODES and not any(op in _ANYTHING or op.startswith(_WAIT_FOR_OTHERS) for op in ops)


class FasterWay:
    """A call that is made on this thread or by TensorFlow's pool, whichever its first calls show to be faster."""

    def __init__(self, make: Callable[[bool], Call]) -> None:
        """make: from whether it runs on the caller's thread, a call; what it does is the same."""
        self._search = Autotune(_search(make))

    def __call__(self, *values: Any) -> Any:
        """The call's result.  Raises: what it raises."""
        way = self._search.begin()
        if way is None:
            return self._search.current(*values)
        try:
            start = perf_counter()
            result = way(*values)
            self._search.tell(perf_counter() - start)
            return result
        finally:
            self._search.end()


def _search(make: Callable[[bool], Call]) -> Generator[Call, float, Call]:
    """Yields the way to make the next call, is sent its seconds, and returns the faster way."""
    here = make(True)
    alone = inf
    for _ in range(REPEATS):
        alone = min(alone, (yield here))
    if alone < SURELY_SHORT:
        return here
    pool = make(False)
    shared = inf
    for _ in range(REPEATS):
        shared = min(shared, (yield pool))
    return here if alone <= shared else pool
