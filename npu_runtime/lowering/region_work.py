"""Work of a region: what its operators compute, and what enters and leaves it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from npu_runtime.cost.core_task import CoreWork
from npu_runtime.cost.vector import VECTOR_BYTES
from npu_runtime.lowering.chip_graph import CUBE, UPDATE, ChipOp, Tensor
from npu_runtime.lowering.fuse_buffers import is_recomputed
from npu_runtime.lowering.instructions import instructions
from npu_runtime.lowering.products import product_of


def head_of(region: list[ChipOp]) -> ChipOp:
    """The operator that gives the region its kind: a product, where there is one."""
    return next((op for op in region if op.pattern == CUBE), region[0])


def inputs_of(region: list[ChipOp]) -> list[Tensor]:
    """Tensors that the region reads and does not make, each once: whole ones, or the parts that are read of them."""
    made = {tensor.storage for op in region for tensor in op.outputs}
    return list(dict.fromkeys(t if t.is_part else t.storage for op in region for t in op.inputs if t.storage not in made))


def outputs_of(region: list[ChipOp], readers: dict[Tensor, list[ChipOp]], fetched: Collection[Tensor]) -> list[Tensor]:
    """Tensors that the region makes and someone outside of it reads, or nobody does."""
    inside = set(region)
    made = [tensor for op in region for tensor in op.outputs]
    return [t for t in made if t in fetched or any(reader not in inside for reader in readers.get(t, [])) or not readers.get(t)]


def transferred(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors that cross the border of a region in memory."""
    return tuple(tensor for tensor in tensors if not is_recomputed(tensor))


def region_work(region: list[ChipOp], read: Sequence[Tensor], written: Sequence[Tensor]) -> CoreWork:
    """The work of a region that is one task of the AI cores."""
    head = head_of(region)
    read_bytes, written_bytes = _read_bytes(region, read), sum(t.n_bytes for t in written) + _updated_bytes(head)
    issued = sum(_issued(op) for op in region)
    product = product_of(head) if head.pattern == CUBE else None
    if product is None:
        return CoreWork(None, read_bytes, written_bytes, issued)
    operands = sum(t.n_bytes for t in head.inputs)
    return CoreWork(product, max(0.0, read_bytes - operands), written_bytes - head.outputs[0].n_bytes, issued)


def _issued(op: ChipOp) -> float:
    largest = max([t.n_bytes for t in (*op.inputs, *op.outputs)], default=0.0)
    return largest / VECTOR_BYTES * instructions(op.op)


def _updated_bytes(op: ChipOp) -> float:
    """An update writes the variables that it reads."""
    return sum(t.n_bytes for t in op.inputs if t.storage.is_variable) if op.pattern == UPDATE else 0.0


def _read_bytes(region: list[ChipOp], read: Sequence[Tensor]) -> float:
    head = region[0]
    if head.op in _PARTLY_READ:
        return 2 * sum(t.n_bytes for t in head.outputs)
    if head.op in ("Assign", "AssignVariableOp"):
        return sum(t.n_bytes for t in head.inputs[1:])
    return sum(t.n_bytes for t in read)


_PARTLY_READ = frozenset({"GatherV2", "Gather", "GatherNd", "ResourceGather", "StridedSlice", "Slice"})
