"""Matrix products: mm, addmm, bmm, baddbmm, linear, matmul, products with vectors."""

from __future__ import annotations

import math
from typing import NamedTuple

from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import CUBE, ELEMENTWISE, ChipOp, Tensor


class _Operand(NamedTuple):
    """is_transposed: whether its rows are the columns of the tensor: the cube unit loads it either way."""

    tensor: Tensor
    is_transposed: bool


def product(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """mm, bmm, mv, dot, matmul: two operands."""
    left, right = call.arguments[:2]
    _keep(builder, call, _launch(builder, left, right, call.results[0]))


def product_with_addend(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """addmm, baddbmm, addmv, addbmm: a bias is part of the product, an addend of the result's size a task of its own."""
    addend, left, right = call.arguments[:3]
    out = call.results[0]
    _with_addend(builder, call, _launch(builder, left, right, out), addend)


def linear(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """linear: rows of the input times filters in rows, and a bias."""
    left, weight = call.arguments[:2]
    bias = call.arguments[2] if len(call.arguments) > 2 else call.keywords.get("bias")
    turned = weight._replace(shape=weight.shape[::-1], strides=weight.strides[::-1])
    _with_addend(builder, call, _launch(builder, left, turned, call.results[0]), bias)


def _with_addend(builder: GraphBuilder, call: OperatorCall, made: ChipOp, addend: TensorUse | None) -> None:
    out = call.results[0]
    if addend is None or math.prod(addend.shape) < out.n_elements or len(out.shape) < 2:
        made.inputs += builder.read_all(addend)
        _keep(builder, call, made)
        return
    inner = Tensor(f"{made.name}:0", out.shape, out.dtype, producer=made)
    made.outputs.append(inner)
    _keep(builder, call, builder.launch("AddV2", "Axpy", ELEMENTWISE, [inner, builder.read(addend)]))


def _keep(builder: GraphBuilder, call: OperatorCall, made: ChipOp) -> None:
    """Give the product its result; a vector is one row or column of the product."""
    builder.keep(made, call.results[0], None if len(call.results[0].shape) > 1 else made.attrs["shape"])


def _launch(builder: GraphBuilder, left: TensorUse, right: TensorUse, out: TensorUse) -> ChipOp:
    """The product, whose result is not there yet.  A vector is a matrix of one row or column."""
    is_batch = len(out.shape) > 2 and len(right.shape) > 2
    a, b = _operand(builder, _matrix(left, is_row=True)), _operand(builder, _matrix(right, is_row=False))
    op, device_op = ("BatchMatMulV2", "BatchMatMul") if is_batch else ("MatMul", "MatMulV2")
    shape = (left.shape[-2] if len(left.shape) > 1 else 1, right.shape[-1] if len(right.shape) > 1 else 1)
    attrs = {"transpose_a": a.is_transposed, "transpose_b": b.is_transposed, "shape": shape}
    return builder.launch(op, device_op, CUBE, [a.tensor, b.tensor], attrs=attrs)


def _matrix(use: TensorUse, is_row: bool) -> TensorUse:
    if len(use.shape) != 1:
        return use
    n, stride = use.shape[0], use.strides[0]
    return use._replace(shape=(1, n) if is_row else (n, 1), strides=(n * stride, stride) if is_row else (stride, 1))


def _operand(builder: GraphBuilder, use: TensorUse) -> _Operand:
    """The tensor that the cube unit loads: a transposed one as it lies in memory."""
    turned = use._replace(
        shape=(*use.shape[:-2], use.shape[-1], use.shape[-2]), strides=(*use.strides[:-2], use.strides[-1], use.strides[-2])
    )
    if builder.is_strided(use) and not builder.is_strided(turned):
        return _Operand(builder.read(turned), True)
    return _Operand(builder.read(use), False)
