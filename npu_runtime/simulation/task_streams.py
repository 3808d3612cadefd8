"""Order and streams of a model's tasks: streams as `assign_streams` gives them, but masks have a stream of their own.

Collectives have one for each group too, and start when their last gradient is there. Without the option hcom_parallel those of
gradients stand in the stream of the computations, behind the backward pass.
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_formats.device.chip import Chip
from npu_runtime.device.engines import AI_CPU, COLLECTIVE, CORE, RUNTIME, VECTOR
from npu_runtime.lowering import chip_graph
from npu_runtime.lowering.fuse_dropout import GENERATE_MASK
from npu_runtime.lowering.lower import LoweredTask, makers
from npu_runtime.passes.fuse.fuse_all_reduces import AFTER_BACKWARD
from npu_runtime.passes.schedule.assign_streams import find_subgraphs
from npu_runtime.passes.schedule.stream_numbers import MAIN, assign_to_streams

_ENGINES = {chip_graph.AI_CPU: AI_CPU, chip_graph.COLLECTIVE: COLLECTIVE, chip_graph.RUNTIME: RUNTIME}


def streams_of(tasks: Sequence[LoweredTask], chip: Chip) -> dict[int, int]:
    """The stream of each task, by position.

    Source: a pass of the graph engine links the makers of dropout masks, which need nothing, on a stream beside the others.
    """
    maker = {tensor: str(position) for tensor, position in makers(tasks).items()}
    names = [str(position) for position, task in enumerate(tasks)]
    sources = {
        name: frozenset(maker[t.storage] for t in task.read if t.storage in maker) - {name}
        for name, task in zip(names, tasks, strict=True)
    }
    masks = {name for name, task in zip(names, tasks, strict=True) if task.head.op == GENERATE_MASK and not sources[name]}
    launched = [name for name in names if name not in masks]
    engines = {name: _engine(task, chip) for name, task in zip(names, tasks, strict=True)}
    kept = {name: sources[name] - masks for name in launched}
    subgraphs = find_subgraphs(launched, engines, kept)
    groups = {n: str(tasks[int(n)].head.attrs.get("group") or "") for n in launched if engines[n] == COLLECTIVE}
    streams = assign_to_streams(subgraphs, engines, kept, groups, {})
    streams.update({name: MAIN for name in launched if tasks[int(name)].head.attrs.get(AFTER_BACKWARD)})
    number = 1 + max(streams.values(), default=-1)
    return {int(name): number if name in masks else streams[name] for name in names}


def gradients_last(tasks: Sequence[LoweredTask]) -> list[LoweredTask]:
    """The tasks in the order in which the host issues them: what waits for no collective, these, what waits for them, and so on.

    The stream of the computations would else wait at the first update for its gradient, with the backward pass behind it.
    Source: the graph engine puts what follows the reductions of gradients on a stream of its own.
    """
    maker = makers(tasks)
    turns: list[int] = []  # even: computations, odd: the collectives that read from them
    for task in tasks:
        before = max((turns[maker[tensor]] for tensor in task.read if tensor in maker), default=0)
        turns.append(before + (before % 2 != (task.head.pattern == chip_graph.COLLECTIVE)))
    return [task for _, task in sorted(zip(turns, tasks, strict=True), key=lambda pair: pair[0])]


def _engine(task: LoweredTask, chip: Chip) -> str:
    if task.head.pattern in _ENGINES:
        return _ENGINES[task.head.pattern]
    return VECTOR if chip.is_split and task.head.pattern != chip_graph.CUBE else CORE
