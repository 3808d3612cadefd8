"""A step on TensorFlow's CPU, with all its tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from npu_bridge._check import variable_values
from npu_bridge._check.session_hooks import run_plain
from npu_bridge._check.step_graph import Asked, StepGraph

MOST_STEP_BYTES = 4 << 30
"""Bytes of the tensors of one step that are kept at once: the largest are left out beyond. A quarter of a laptop's memory."""


PART_BYTES, MOST_PARTS = 128 << 20, 8
"""Bytes of tensors that a run on TensorFlow fetches at once, and the most runs in which those of a step are computed."""


@dataclass
class RanStep:
    """The results of a step.  fetches: in the order asked for.  tensors: by the user's names.  after: variables."""

    fetches: list[Any]
    tensors: MutableMapping[str, np.ndarray] = field(default_factory=dict)
    after: dict[str, np.ndarray] = field(default_factory=dict)


def sources_of(session: Any, graph: StepGraph, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values that are fed, and those that pipelines and random operations give for the next step; they go on by that."""
    drawn = run_plain(session, Asked((), (), graph.asked.feeds), feeds, graph.drawn) if graph.drawn else []
    fed = {name: np.asarray(value) for name, value in feeds.items()}
    return {**fed, **dict(zip(graph.drawn, map(np.asarray, drawn), strict=True))}


def run_step(
    session: Any, graph: StepGraph, sources: Mapping[str, np.ndarray], names: Sequence[str],
    into: MutableMapping[str, np.ndarray] | None = None,
) -> RanStep:  # fmt: skip
    """names: tensors to keep.  into: where they are put; None for memory.

    What no change of a variable precedes is computed before the step, as such a change may write into what has been fetched.
    That takes several runs where it would be too much at once.
    """
    tensors = {} if into is None else into
    settled = set(graph.settled)
    for early in _parts(graph, [name for name in names if name in settled], sources):
        found = run_plain(session, Asked((), (), ()), sources, early)
        tensors.update(zip(early, map(np.asarray, found), strict=True))
        del found
    late = [name for name in names if name not in settled]
    got = run_plain(session, graph.asked, sources, late)
    n = len(graph.asked.fetches)
    tensors.update(zip(late, map(np.asarray, got[n:]), strict=True))
    return RanStep(got[:n], tensors, variable_values.read(session, graph.variables))


def _parts(graph: StepGraph, names: Sequence[str], sources: Mapping[str, np.ndarray]) -> Iterator[list[str]]:
    sizes = tensor_bytes(graph, names, sources)
    most = max(PART_BYTES, sum(sizes.values()) // MOST_PARTS)
    part, n_bytes = [], 0
    for name in names:
        if part and n_bytes + sizes[name] > most:
            yield part
            part, n_bytes = [], 0
        part.append(name)
        n_bytes += sizes[name]
    if part:
        yield part


def kept_tensors(graph: StepGraph, sources: Mapping[str, np.ndarray]) -> list[str]:
    """Names of tensors to keep: all of them, or the smaller ones where all would be too much."""
    sizes = tensor_bytes(graph, graph.tensors, sources)
    total, kept = 0, {graph.loss}
    for name, size in sorted(sizes.items(), key=lambda item: item[1]):
        total += size
        if total <= MOST_STEP_BYTES:
            kept.add(name)
    return [name for name in graph.tensors if name in kept]


def tensor_bytes(graph: StepGraph, names: Iterable[str], sources: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Bytes of each tensor, about: an extent that the graph leaves open counts as the batch does, or as 64."""
    elements = {name: graph.graph.as_graph_element(name) for name in (*names, *sources)}
    met = Counter(
        extent for name, value in sources.items()
        for known, extent in zip(_shape(elements[name]), value.shape, strict=False) if known is None
    )  # fmt: skip
    batch = met.most_common(1)[0][0] if met else 64
    return {name: _bytes_of(elements[name], batch) for name in names}


def _shape(tensor: Any) -> list[int | None]:
    return tensor.shape.as_list() if tensor.shape.rank is not None else []


def _bytes_of(tensor: Any, batch: int) -> int:
    extents = [batch if extent is None else extent for extent in _shape(tensor)]
    return int(np.prod(extents, dtype=np.float64)) * tensor.dtype.size


def numbers_in(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values that are numbers or booleans: texts are not stored."""
    return {name: value for name, value in values.items() if value.dtype.kind in "fiub" or value.dtype.name == "bfloat16"}
