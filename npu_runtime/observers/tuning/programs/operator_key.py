"""The key of an operator in a bank: all that its cost on a chip depends on, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from npu_runtime.cost.core_task import CoreWork
from npu_runtime.cost.tiling import Product
from npu_runtime.errors import InvalidArgument
from npu_runtime.lowering.chip_graph import Tensor
from npu_runtime.lowering.lower import LoweredTask

_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}
_LARGEST_FACTOR = 2**40
"""The largest extent of a product that is believed: more elements than any chip's memory has bytes."""


def describe(task: LoweredTask, work: CoreWork) -> dict[str, Any]:
    """The operator of a task: its type, those fused with it, its tensors, and the work of the AI cores.

    Attributes such as strides and paddings are in the work, whose product they shape.
    """
    return {
        "op_type": task.head.op_type, "fused": [op.op_type for op in task.ops if op is not task.head],
        "inputs": _tensors(task.read), "outputs": _tensors(task.written), "work": _work(work),
    }  # fmt: skip


def _tensors(tensors: Iterable[Tensor]) -> list[Any]:
    return [[[int(n) for n in tensor.shape], str(tensor.dtype), tensor.format] for tensor in tensors]


def _work(work: CoreWork) -> dict[str, Any]:
    """The work without the operations that the user asked for: they are told, and cost nothing."""
    product = None if work.product is None else {k: v for k, v in asdict(work.product).items() if k != "flops"}
    return {
        "product": product, "read_bytes": float(work.read_bytes), "written_bytes": float(work.written_bytes),
        "instructions": float(work.instructions),
    }  # fmt: skip


def work_of(operator: Mapping[str, Any]) -> CoreWork:
    """The work of an operator that a bank describes.  Raises: InvalidArgument for one that no operator has."""
    found = operator["work"]
    product = None if found["product"] is None else _product(found["product"])
    if found["read_bytes"] < 0 or found["instructions"] < 0:
        raise InvalidArgument("bank: an operator has less than no work; leave the entry out")
    return CoreWork(product, found["read_bytes"], found["written_bytes"], found["instructions"])


def _product(found: Mapping[str, Any]) -> Product:
    wanted = {one.name: str(one.type) for one in fields(Product) if one.name != "flops"}
    names = [name for name in wanted if not _is_of(found.get(name), wanted[name])]
    names += [name for name in ("m", "n", "k", "batch") if name not in names and not 0 < found[name] <= _LARGEST_FACTOR]
    if names or set(found) != set(wanted):
        raise InvalidArgument(f"bank: a product has wrong fields ({', '.join(names) or 'their names'}); leave the entry out")
    return Product(**found)


def _is_of(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "bool" or not isinstance(value, bool))


def works_of(tasks: Sequence[LoweredTask]) -> Iterator[tuple[LoweredTask, CoreWork]]:
    """The tasks of the AI cores, those of loops included, with their work."""
    for task in tasks:
        if task.work is not None:
            yield task, task.work
        yield from works_of(task.body)
