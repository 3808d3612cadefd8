"""A step on TensorFlow's CPU, with all its tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from npu_bridge._check import variable_values
from npu_bridge._check.session_hooks import run_plain
from npu_bridge._check.step_graph import Asked, StepGraph

MOST_STEP_BYTES = 4 << 30
"""Bytes of the tensors of one step that are kept at once: the largest are left out beyond. A quarter of a laptop's memory."""


@dataclass
class RanStep:
    """The results of a step.  fetches: in the order asked for.  tensors: by the user's names.  after: variables."""

    fetches: list[Any]
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    after: dict[str, np.ndarray] = field(default_factory=dict)


def sources_of(session: Any, graph: StepGraph, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values that are fed, and those that pipelines and random operations give for the next step; they go on by that."""
    drawn = run_plain(session, Asked((), (), graph.asked.feeds), feeds, graph.drawn) if graph.drawn else []
    fed = {name: np.asarray(value) for name, value in feeds.items()}
    return {**fed, **dict(zip(graph.drawn, map(np.asarray, drawn), strict=True))}


def run_step(session: Any, graph: StepGraph, sources: Mapping[str, np.ndarray], names: Sequence[str]) -> RanStep:
    """names: tensors to keep.  What no change of a variable precedes is computed before the step, as such a change may write
    into what has been fetched.
    """
    settled = set(graph.settled)
    early = [name for name in names if name in settled]
    tensors = dict(zip(early, run_plain(session, Asked((), (), ()), sources, early), strict=True)) if early else {}
    late = [name for name in names if name not in settled]
    got = run_plain(session, graph.asked, sources, late)
    n = len(graph.asked.fetches)
    tensors.update(zip(late, got[n:], strict=True))
    made = {name: np.asarray(tensors[name]) for name in names}
    return RanStep(got[:n], made, variable_values.read(session, graph.variables))


def kept_tensors(graph: StepGraph) -> list[str]:
    """Names of tensors to keep: all of them, or the smaller ones where all would be too much; unknown extents count as 64."""
    sizes = {name: _bytes_of(graph.graph.as_graph_element(name)) for name in graph.tensors}
    total, kept = 0, {graph.loss}
    for name, size in sorted(sizes.items(), key=lambda item: item[1]):
        total += size
        if total <= MOST_STEP_BYTES:
            kept.add(name)
    return [name for name in graph.tensors if name in kept]


def _bytes_of(tensor: Any) -> int:
    shape = tensor.shape.as_list() if tensor.shape.rank is not None else []
    return int(np.prod([64 if extent is None else extent for extent in shape], dtype=np.float64)) * tensor.dtype.size


def numbers_in(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values that are numbers or booleans: texts are not stored."""
    return {name: value for name, value in values.items() if value.dtype.kind in "fiub" or value.dtype.name == "bfloat16"}
