"""Before: RandomUniform -> GreaterEqual -> Select.  After: DropOutGenMask, whose bits the Select reads.

Source: the device's dropout is two operators, of which one makes a mask of a bit an element, on the AI CPU.
"""

from __future__ import annotations

from npu_runtime.lowering.chip_graph import ChipGraph, ChipOp, Tensor

GENERATE_MASK = "DropOutGenMask"
_COMPARISONS = frozenset({"GreaterEqual", "Less", "Greater", "LessEqual", "Cast", "Floor", "Add", "AddV2"})
_BITS = 8


def fuse_dropout(graph: ChipGraph) -> None:
    """Join random numbers and the comparison that alone reads them."""
    readers = graph.readers()
    gone: set[ChipOp] = set()
    for op in graph.ops:
        reader = _only_reader(op, readers)
        if op.op == "RandomUniform" and reader is not None and reader.op in _COMPARISONS:
            _make_mask(op, reader.outputs[0])
            gone.add(reader)
    graph.ops = [op for op in graph.ops if op not in gone]


def _only_reader(op: ChipOp, readers: dict[Tensor, list[ChipOp]]) -> ChipOp | None:
    found = readers.get(op.outputs[0], []) if op.outputs else []
    return found[0] if len(found) == 1 else None


def _make_mask(op: ChipOp, mask: Tensor) -> None:
    op.op_type, op.op = GENERATE_MASK, GENERATE_MASK
    op.outputs = [mask]
    mask.producer, mask.bits = op, 1
