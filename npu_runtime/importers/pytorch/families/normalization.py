"""Normalisations: over a batch in two operators each way, over rows or groups in one."""

from __future__ import annotations

from npu_runtime.importers.pytorch.families.plain import plain
from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import NORMALIZATION, REDUCTION, ChipOp, Tensor

_GRADIENT_FIRST = 1
"""Position of the gradient for cuDNN's form, which takes the input first; the others take the gradient first."""


def batch_norm(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """native_batch_norm and its like.  Arguments: x, scale, offset, running mean and variance, whether it trains."""
    x = call.arguments[0]
    is_training = True in [value for value in call.arguments[3:6] if isinstance(value, bool)] or "no_stats" in call.overload
    vectors = [use for use in call.arguments[1:5] if isinstance(use, TensorUse)]
    made = builder.launch(
        "FusedBatchNormV3", "BNTrainingUpdate" if is_training else "BNInfer", NORMALIZATION,
        [builder.read(x), *map(builder.read, vectors)], attrs={"is_training": is_training},
    )  # fmt: skip
    builder.keep(made, call.results[0])
    for use in call.results[1:3]:
        _keep_sums(builder, made, use, x.shape[1])


def batch_norm_backward(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """native_batch_norm_backward and its like.  Arguments: gradient, x, scale, ...; results: gradients of x, scale and offset."""
    gradient, x = call.arguments[:2] if "cudnn" not in call.name else call.arguments[1::-1]
    vectors = [builder.read(use) for use in call.arguments[2:7] if isinstance(use, TensorUse) and len(use.shape) == 1]
    of_x, of_scale, of_offset = (*call.results, None, None, None)[:3]
    if of_x is None:
        attrs = {"is_training": False}  # a half already
        both = [builder.read(gradient), builder.read(x)]
        made = builder.launch("FusedBatchNormGradV3", "BNTrainingUpdateGrad", REDUCTION, [*both, *vectors], attrs=attrs)
    else:
        made = builder.launch(
            "FusedBatchNormGradV3", "BNTrainingReduceGrad", NORMALIZATION, [builder.read(gradient), builder.read(x), *vectors]
        )
        builder.keep(made, of_x)
    for use in (of_scale, of_offset):
        _keep_sums(builder, made, use, x.shape[1])


def row_norm(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Layer and group normalisation and their gradients, an operator each; gradients that nobody wants are not made."""
    plain(builder, call, row._replace(family="normalization"))


def _keep_sums(builder: GraphBuilder, made: ChipOp, use: TensorUse | None, n_channels: int) -> None:
    """A vector of one number a channel; where torch keeps none, the operator makes it all the same."""
    if isinstance(use, TensorUse) and use.n_elements:
        builder.keep(made, use)
    else:
        made.outputs.append(Tensor(f"{made.name}:{len(made.outputs)}", (n_channels,), "float32", producer=made))
