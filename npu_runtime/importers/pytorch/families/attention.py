"""Attention by one call: products, softmax and, backward, the scores once more.

The device has a fused operator for it on later chips only; so this is what it takes without one.
"""

from __future__ import annotations

from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import CUBE, MOVEMENT, ChipOp, Tensor


def attention(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """_scaled_dot_product_..._attention.  Arguments: queries, keys, values of batch, heads, rows, columns."""
    queries, keys, values = call.arguments[:3]
    weights = _weights(builder, queries, keys)
    builder.keep(_product(builder, weights, builder.read(values)), call.results[0])
    for use in call.results[1:2]:
        if isinstance(use, TensorUse) and use.n_elements and weights.producer is not None:
            builder.keep(weights.producer, use)


def attention_backward(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Gradients of attention.  Arguments: gradient, queries, keys, values, ...; results: those of queries, keys and values."""
    gradient, queries, keys, values = call.arguments[:4]
    of_queries, of_keys, of_values = call.results[:3]
    weights, given = _weights(builder, queries, keys), builder.read(gradient)
    builder.keep(_product(builder, weights, given, is_left_turned=True), of_values)
    of_weights = _inner(_product(builder, given, builder.read(values)), weights.shape, queries.dtype)
    made = builder.launch("SoftmaxGrad", "SoftmaxGrad", MOVEMENT, [weights, of_weights], [weights.shape], queries.dtype)
    scores = made.outputs[0]
    builder.keep(_product(builder, scores, builder.read(keys)), of_queries)
    builder.keep(_product(builder, scores, builder.read(queries), is_left_turned=True), of_keys)


def _weights(builder: GraphBuilder, queries: TensorUse, keys: TensorUse) -> Tensor:
    """The softmax of queries times keys: for every head a number for each pair of rows."""
    shape = (*queries.shape[:-1], keys.shape[-2])
    scores = _inner(_product(builder, builder.read(queries), builder.read(keys)), shape, queries.dtype)
    return builder.launch("Softmax", "SoftmaxV2", MOVEMENT, [scores], [shape], queries.dtype).outputs[0]


def _product(builder: GraphBuilder, left: Tensor, right: Tensor, is_left_turned: bool = False) -> ChipOp:
    attrs = {"transpose_a": is_left_turned}
    return builder.launch("BatchMatMulV2", "BatchMatMul", CUBE, [left, right], attrs=attrs)


def _inner(op: ChipOp, shape: tuple[int, ...], dtype: str) -> Tensor:
    op.outputs.append(Tensor(f"{op.name}:0", shape, dtype, producer=op))
    return op.outputs[0]
