"""Verdicts of trials about the loops of a graph, for its compilations with other batches.

A trial computes a turn of the loop, with as many rows as the batch has.  Who asks how much memory a batch of millions would take
must not take that memory himself: what a loop computes does not depend on the number of rows, so a small batch tells it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from npu_runtime.analysis.sequence_loops import SequenceLoop
from npu_runtime.passes.fuse.recurrent_cells import Found
from npu_runtime.passes.fuse.recurrent_trials import Gradients


@dataclass(frozen=True)
class Verdict:
    """The verdict of random turns.  found: None for a loop of no known cell.  gradients: None without a loop of gradients."""

    found: Found | None
    gradients: Gradients | None


Verdicts = dict[Hashable, Verdict]
"""Verdicts by the signature of the loops."""
_current: ContextVar[Verdicts | None] = ContextVar("recurrent_verdicts", default=None)


def verdicts() -> Verdicts | None:
    """Verdicts of this thread's compilations; None where each tries its loops anew."""
    return _current.get()


@contextmanager
def shared_verdicts() -> Iterator[None]:
    """Compilations inside try a loop once, and take it for the same with other batches."""
    token = _current.set({})
    try:
        yield
    finally:
        _current.reset(token)


def signature(*loops: SequenceLoop | None) -> Hashable:
    """A key of loops that does not depend on the extents of their values: names, ops, inputs and results."""
    return tuple(
        None if loop is None else (loop.node.name, tuple(loop.node.inputs), _nodes(loop), tuple(loop.loop.results))
        for loop in loops
    )


def _nodes(loop: SequenceLoop) -> Hashable:
    return tuple((node.name, node.op, tuple(node.inputs)) for node in loop.body)
