"""Before: operators one by one.  After: regions that the chip runs as one task, whose inner values stay in the unified buffer.

An element-wise chain is one region, alone or behind a product, a convolution or the second half of a normalisation; a convolution
and the sums of the normalisation behind it are one; sums over rows and what is computed of the same rows with them are one, as in
a layer normalisation, its gradient, and the gradient of a softmax.  Source: names and purpose of the fusion passes of the
vendor's open graph engine (element-wise chains with several results, convolution with BNTrainingReduce, gradient of a convolution
with element-wise work, matrix product with element-wise work, BNTrainingUpdate with element-wise work, element-wise work with a
reduction, layer normalisation and its gradient).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from npu_runtime.graph.clusters import Clusters
from npu_runtime.lowering.chip_graph import CUBE, ELEMENTWISE, REDUCTION, ChipGraph, ChipOp, Tensor

MOST_MEMBERS = 12
"""Operators of a chain at most: each needs a place of its own in the unified buffer, and all places get smaller with each."""
MOST_ROW_MEMBERS = 40
"""Operators of a region with sums over rows at most: the gradient of a layer normalisation is about thirty operators."""
MOST_ROW_INPUTS = 2
"""Large tensors that enter a region with sums over rows: the input and the gradient.  Source: inputs of LayerNormGrad."""


@dataclass
class _Region:
    """n_members, whether there are sums over rows, the large tensors that enter, and whether it begins with a product."""

    n_members: int
    has_rows: bool
    inputs: set[Tensor] = field(default_factory=set)
    is_cube: bool = False
    is_matmul: bool = False


class _Fusion:
    def __init__(self, graph: ChipGraph) -> None:
        self.graph = graph
        self.by_name = {op.name: op for op in graph.ops}
        self.clusters = Clusters()
        self.regions: dict[int, _Region] = {}

    def run(self) -> list[list[ChipOp]]:
        for op in self.graph.ops:
            sources = list(dict.fromkeys(t.producer.name for t in op.inputs if t.producer is not None))
            self.clusters.add(op.name, sources)
            self.regions[self.clusters.of(op.name)] = _region_of(op)
            for name in sources:
                if _may_join(self.by_name[name], op):
                    self._join(op, name)
        return [[self.by_name[name] for name in members] for members in self.clusters.members()]

    def _join(self, op: ChipOp, name: str) -> None:
        one, other = self.clusters.of(name), self.clusters.of(op.name)
        joined = None if one == other else _joined(self.regions[one], self.regions[other], self._made(one))
        if joined is None:
            return
        self.clusters.join(op.name, name)
        if self.clusters.of(name) == self.clusters.of(op.name):
            self.regions[self.clusters.of(name)] = joined

    def _made(self, cluster: int) -> set[Tensor]:
        return {t for name in self.clusters.inside(cluster) for t in self.by_name[name].outputs}


def fuse_buffers(graph: ChipGraph) -> list[list[ChipOp]]:
    """The regions, in an order of execution; an operator that is fused with nothing is a region of its own."""
    return _in_order(_Fusion(graph).run())


def is_recomputed(tensor: Tensor) -> bool:
    """Whether readers compute a tensor again from smaller ones: what only spreads rows and columns is never stored."""
    op = tensor.producer
    return (
        op is not None
        and op.pattern == ELEMENTWISE
        and bool(op.inputs)
        and all(t.n_elements < tensor.n_elements for t in op.inputs)
    )


def _region_of(op: ChipOp) -> _Region:
    largest = max((t.n_elements for t in (*op.inputs, *op.outputs)), default=0)
    inputs = {t.storage for t in op.inputs if t.n_elements == largest and not is_recomputed(t)}
    is_matmul = op.pattern == CUBE and "Conv" not in op.op
    return _Region(1, op.pattern == REDUCTION, inputs, op.pattern == CUBE, is_matmul)


def _joined(first: _Region, second: _Region, made: set[Tensor]) -> _Region | None:
    """The region of both; None where it has more operators or large inputs than the buffer, or its product, may take."""
    has_rows = first.has_rows or second.has_rows
    inputs = first.inputs | {t for t in second.inputs if t not in made}
    n_members = first.n_members + second.n_members
    if n_members > (MOST_ROW_MEMBERS if has_rows else MOST_MEMBERS):
        return None
    if first.is_matmul and len(inputs - first.inputs) > 0:
        return None
    if has_rows and ((first.is_cube and first.n_members > 1) or (len(inputs) > MOST_ROW_INPUTS and not first.is_cube)):
        return None
    return _Region(n_members, has_rows, inputs, first.is_cube, first.is_matmul)


def _may_join(producer: ChipOp, reader: ChipOp) -> bool:
    """Whether a reader can go on with a producer's values while they are in the buffer."""
    if not producer.outputs or not reader.outputs:
        return False
    if producer.pattern == CUBE:
        if "Conv" not in producer.op and _large_inputs(reader) > 1:
            return False
        return reader.op_type == "BNTrainingReduce" or (reader.pattern == ELEMENTWISE and _is_same_size(producer, reader))
    if reader.op_type.startswith("BNTraining") or producer.op_type in ("BNTrainingReduce", "BNTrainingUpdateGrad"):
        return False
    if producer.pattern not in (ELEMENTWISE, REDUCTION) or reader.pattern not in (ELEMENTWISE, REDUCTION):
        return False
    return (producer.pattern == ELEMENTWISE and _is_same_size(producer, reader)) or _is_of_rows(producer, reader)


def _large_inputs(op: ChipOp) -> int:
    """The number of inputs that are at least as large as the result."""
    return sum(t.n_elements >= op.outputs[0].n_elements for t in op.inputs)


def _is_same_size(producer: ChipOp, reader: ChipOp) -> bool:
    made = reader.inputs if reader.pattern == REDUCTION else reader.outputs
    return producer.outputs[0].n_elements == max((t.n_elements for t in made), default=0)


def _is_of_rows(producer: ChipOp, reader: ChipOp) -> bool:
    """Whether one of them has a number for each row of the other: a shape that ends in one where the other's does not."""
    small, large = producer.outputs[0], max((*reader.inputs, *reader.outputs), key=lambda t: t.n_elements)
    rank = len(small.shape)
    return rank == len(large.shape) > 1 and small.shape[-1] == 1 and small.shape[:-1] == large.shape[:-1]


def _in_order(regions: list[list[ChipOp]]) -> list[list[ChipOp]]:
    """Regions so that each comes behind those it reads from."""
    of = {op: number for number, region in enumerate(regions) for op in region}
    needs = [{of[t.producer] for op in region for t in op.inputs if t.producer in of} - {n} for n, region in enumerate(regions)]
    done: set[int] = set()
    ordered: list[list[ChipOp]] = []
    for number in range(len(regions)):
        stack = [number]
        while stack:
            top = stack[-1]
            missing = [n for n in sorted(needs[top]) if n not in done]
            if not missing:
                stack.pop()
                if top not in done:
                    done.add(top)
                    ordered.append(regions[top])
            else:
                stack += missing
    return ordered
