"""A training step of one device as it would be on several: each gradient is reduced where an optimizer reads it."""

from __future__ import annotations

from npu_runtime.analysis.training_updates import is_training_update
from npu_runtime.device.engines import COLLECTIVE_MARK
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.kernels.training.apply_update import DENSE
from npu_runtime.passes.fuse.fuse_all_reduces import ALL_REDUCE, BY_SPLIT

_WORLD = "hccl_world_group"
_ALL_GATHER = "_NpuHcomAllGather"
_INTEGERS = ("int32", "int64")


def has_collectives(graph: Graph) -> bool:
    """Whether several ranks compute a step together."""
    return any(str(node.attrs.get("_npu_op", "")).startswith(COLLECTIVE_MARK) for node in graph)


def as_data_parallel(graph: Graph) -> Graph | None:
    """A copy of the graph in which all gradients are reduced over all ranks; None where it has none that is known.

    A dense gradient is summed, the rows and numbers of rows of a table are gathered, as Horovod does. Gradients that are clipped
    by their norm are reduced behind the clipping, which the script may mean otherwise; that changes no size.
    """
    made = graph.copied()
    reduced: dict[Value, Value] = {}
    for node in [node for node in made if is_training_update(node.op) and node.host_reason is None and not node.is_looped]:
        for position, op in _gradients(made, node):
            value = node.inputs[position]
            if value not in reduced:
                reduced[value] = _reduce(made, value, op, len(reduced))
            node.inputs[position] = reduced[value]
    return made if reduced else None


def _gradients(graph: Graph, update: Node) -> list[tuple[int, str]]:
    """Positions of the inputs of an update that are its gradient, and what reduces each.

    Source: the signatures of TensorFlow's sparse optimizers, in which the rows stand before their numbers.
    """
    if update.op in DENSE:
        return [(DENSE[update.op].layout.grad, ALL_REDUCE)]
    numbers = [place for place, value in enumerate(update.inputs) if graph.spec(value).dtype in _INTEGERS]
    return [(place, _ALL_GATHER) for place in (numbers[0] - 1, numbers[0])] if numbers and numbers[0] else []


def _reduce(graph: Graph, value: Value, op: str, number: int) -> Value:
    """Add a collective of all ranks, which the clock counts; the graph is of one rank, so shapes stay."""
    attrs = {
        "_npu_op": op.removeprefix("_Npu"), "group": _WORLD, "ranks": "0", "reduction": "sum", "fusion_id": -1,
        "fusion": BY_SPLIT if op == ALL_REDUCE else 0,
    }  # fmt: skip
    made = Node(f"data_parallel/gradient_{number}", op, [value], attrs=attrs, outputs=[graph.spec(value)], is_stateful=True)
    made.members = ()
    return Value(graph.add(made).name)
