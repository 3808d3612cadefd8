"""Convolutions and their gradients, transposed ones and those of one or three dimensions included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse, argument
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import CUBE, REDUCTION, Tensor

_FORWARD, _INPUT, _FILTER = "forward", "input gradient", "filter gradient"
_OPS = {_FORWARD: "Conv2D", _INPUT: "Conv2DBackpropInput", _FILTER: "Conv2DBackpropFilter"}
_DEPTHWISE_OPS = {
    _FORWARD: "DepthwiseConv2dNative",
    _INPUT: "DepthwiseConv2dNativeBackpropInput",
    _FILTER: "DepthwiseConv2dNativeBackpropFilter",
}
_DEVICE_OPS = {
    "Conv2D": "Conv2D", "Conv2DBackpropInput": "Conv2DBackpropInput", "Conv2DBackpropFilter": "Conv2DBackpropFilter",
    "DepthwiseConv2dNative": "DepthwiseConv2D", "DepthwiseConv2dNativeBackpropInput": "DepthwiseConv2DBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter": "DepthwiseConv2DBackpropFilter",
}  # fmt: skip


@dataclass(frozen=True)
class _Filters:
    """is_depthwise: whether each channel has filters of its own.  rank: of the tensors; the chip's have four."""

    use: TensorUse
    is_depthwise: bool
    rank: int

    def op(self, kind: str) -> tuple[str, str]:
        op = (_DEPTHWISE_OPS if self.is_depthwise else _OPS)[kind]
        device_op = _DEVICE_OPS[op]
        return op, device_op.replace("Conv2D", "Conv3D") if self.rank == 5 else device_op

    @property
    def attrs(self) -> Mapping[str, Any]:
        return {"data_format": "NCHW", "filter_format": "OIHW"}


def convolution(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """aten::convolution and its composites.  Arguments: image, filters, bias, ..., and whether it is transposed, and groups."""
    image, weight, bias = (argument(call, n, name) for n, name in enumerate(("input", "weight", "bias")))
    is_transposed = row.device_op == "Conv2DTransposeD" or argument(call, 6, "transposed") is True
    filters = _filters_of(weight)
    out = call.results[0]
    if is_transposed:
        _launch(builder, filters, _INPUT, [_filter(builder, filters), _image(builder, image)], out, ())
    else:
        more = builder.read_all(bias)
        _launch(builder, filters, _FORWARD, [_image(builder, image), _filter(builder, filters)], out, more)


def convolution_backward(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """aten::convolution_backward.  Arguments: gradient, image, filters, ...; results: gradients of image, filters and bias."""
    gradient, image, weight = call.arguments[:3]
    is_transposed = argument(call, 7, "transposed") is True
    filters = _filters_of(weight)
    of_image, of_filters, of_bias = (*call.results, None, None, None)[:3]
    if of_image is not None and is_transposed:
        _launch(builder, filters, _FORWARD, [_image(builder, gradient), _filter(builder, filters)], of_image, ())
    elif of_image is not None:
        _launch(builder, filters, _INPUT, [_filter(builder, filters), _image(builder, gradient)], of_image, ())
    if of_filters is not None:
        pair = (gradient, image) if is_transposed else (image, gradient)
        _launch(builder, filters, _FILTER, [_image(builder, use) for use in pair], of_filters, ())
    if of_bias is not None:
        builder.keep(builder.launch("BiasAddGrad", "BiasAddGrad", REDUCTION, [builder.read(gradient)]), of_bias)


def _launch(builder: GraphBuilder, filters: _Filters, kind: str, inputs: list[Tensor], made: TensorUse, more: Any) -> None:
    op, device_op = filters.op(kind)
    builder.keep(builder.launch(op, device_op, CUBE, [*inputs, *more], attrs=filters.attrs), made, _of_four(made.shape))


def _filters_of(weight: TensorUse) -> _Filters:
    return _Filters(weight, weight.shape[1] == 1 and weight.shape[0] > 1, len(weight.shape))


def _filter(builder: GraphBuilder, filters: _Filters) -> Tensor:
    return _reshaped(builder.read(filters.use))


def _image(builder: GraphBuilder, use: TensorUse) -> Tensor:
    return _reshaped(builder.read(use))


def _reshaped(tensor: Tensor) -> Tensor:
    """The tensor as one of images: the cost of a convolution depends on products of its extents only."""
    shape = _of_four(tensor.shape)
    if shape == tensor.shape:
        return tensor
    return Tensor(
        f"{tensor.name}i", shape, tensor.dtype, producer=tensor.producer, base=tensor, bits=tensor.bits, is_part=tensor.is_part
    )


def _of_four(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Batch, channels, height and width: a line is an image of height 1, a volume one with its planes one below the other.

    An image without a batch is a batch of one.
    """
    if len(shape) == 3:
        return shape[0], shape[1], 1, shape[2]
    return (*shape[:2], shape[2] * shape[3], shape[4]) if len(shape) == 5 else shape
