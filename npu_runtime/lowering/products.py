"""Products on the cube unit: the rows, columns and depth of matrix products and convolutions, as the chip sees them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from npu_runtime.cost.tiling import FRACTAL, Product, padded
from npu_runtime.lowering.chip_graph import ChipOp, Tensor

FEW_CHANNELS = 4
"""Channels of one block for images that have no more.  Source: the format NC1HWC0_C04 of the vendor's operator information."""


class _Image(NamedTuple):
    batch: int
    height: int
    width: int
    channels: int


def product_of(op: ChipOp) -> Product | None:
    """The product of a cube operator; None for one that is not known."""
    make = _PRODUCTS.get(op.op)
    return None if make is None else make(op)


def _matmul(op: ChipOp) -> Product:
    left, right, out = op.inputs[0], op.inputs[1], op.outputs[0]
    transposed = op.attrs.get("transpose_a") or op.attrs.get("adj_x")
    *_, rows, columns = left.shape
    m, k = (columns, rows) if transposed else (rows, columns)
    n = out.shape[-1]
    return _product(op, m, n, k, math.prod(out.shape[:-2]), 2.0 * out.n_elements * k, left, right)


def _product(
    op: ChipOp, m: int, n: int, k: int, batch: int, flops: float, left: Tensor, right: Tensor, is_depthwise: bool = False
) -> Product:
    out_bytes = 2 if op.outputs[0].dtype in ("float16", "bfloat16") else 4
    return Product(m, n, k, batch, left.dtype, out_bytes, left.n_bytes, right.n_bytes, False, is_depthwise, flops)


def _image(tensor: Tensor, attrs: Mapping[str, Any]) -> _Image:
    n, a, b, c = tensor.shape
    return _Image(n, b, c, a) if attrs.get("data_format") == "NCHW" else _Image(n, a, b, c)


def _filters(tensor: Tensor, attrs: Mapping[str, Any]) -> tuple[int, ...]:
    """Height, width, channels that a filter sees, and filters; TensorFlow's order, PyTorch's with the attribute filter_format."""
    if attrs.get("filter_format") != "OIHW":
        return tensor.shape
    n, channels, height, width = tensor.shape
    return height, width, channels, n


class _Groups(NamedTuple):
    """n: products side by side.  channels, filters: of each of them."""

    n: int
    channels: int
    filters: int


def _groups(channels: int, filters: tuple[int, ...]) -> _Groups:
    """The groups of a convolution on the cube unit: narrow ones are done together, zeros between them, until they fill blocks.

    channels: of the image.  Assumed, after the layout of the filters of a grouped convolution in the vendor's open graph engine.
    """
    seen, made, n = filters[2], filters[3], max(1, channels // filters[2])
    if n == 1:
        return _Groups(1, _blocked(seen), made)
    filling = math.lcm(math.lcm(seen, FRACTAL) // seen, math.lcm(made // n, FRACTAL) // (made // n))
    together = min(filling, n)
    return _Groups(-(-n // together), padded(together * seen), together * made // n)


def _blocked(channels: int) -> int:
    return FEW_CHANNELS if channels <= FEW_CHANNELS else padded(channels)


def _conv(op: ChipOp) -> Product:
    image, filters, out = op.inputs[0], _filters(op.inputs[1], op.attrs), _image(op.outputs[0], op.attrs)
    kernel, positions = filters[0] * filters[1], out.batch * out.height * out.width
    groups = _groups(_image(image, op.attrs).channels, filters)
    flops = 2.0 * positions * out.channels * kernel * filters[2]
    return _product(op, positions, groups.filters, kernel * groups.channels, groups.n, flops, image, op.inputs[1])


def _conv_input_gradient(op: ChipOp) -> Product:
    """Zeros stand between the gradients of a convolution with a stride, and are multiplied too."""
    filters, gradient = _filters(op.inputs[-2], op.attrs), op.inputs[-1]
    made, given = _image(op.outputs[0], op.attrs), _image(gradient, op.attrs)
    kernel, positions = filters[0] * filters[1], made.batch * made.height * made.width
    groups = _groups(made.channels, filters)
    columns = made.channels if groups.n == 1 else groups.channels
    flops = 2.0 * given.batch * given.height * given.width * given.channels * kernel * filters[2]
    return _product(op, positions, columns, kernel * padded(groups.filters), groups.n, flops, gradient, op.inputs[-2])


def _conv_filter_gradient(op: ChipOp) -> Product:
    image, gradient = op.inputs[0], op.inputs[-1]
    given, filters = _image(gradient, op.attrs), _filters(op.outputs[0], op.attrs)
    kernel, positions = filters[0] * filters[1], given.batch * given.height * given.width
    groups = _groups(_image(image, op.attrs).channels, filters)
    flops = 2.0 * positions * given.channels * kernel * filters[2]
    return _product(op, groups.filters, kernel * groups.channels, positions, groups.n, flops, gradient, image)


def _depthwise(op: ChipOp) -> Product:
    """One block of channels at a time: a product of 16 columns for each, most of whose numbers are zero."""
    image, filters, out = op.inputs[0], op.inputs[1], _image(op.outputs[0], op.attrs)
    return _depthwise_product(op, out, _filters(filters, op.attrs), image, filters)


def _depthwise_product(op: ChipOp, image: _Image, filters: tuple[int, ...], left: Tensor, right: Tensor) -> Product:
    kernel, positions = filters[0] * filters[1], image.batch * image.height * image.width
    blocks = padded(image.channels) // FRACTAL
    flops = 2.0 * positions * image.channels * kernel
    return _product(op, positions, FRACTAL, kernel * FRACTAL, blocks, flops, left, right, True)


def _depthwise_input_gradient(op: ChipOp) -> Product:
    """Zeros stand between the gradients of one with a stride, too: no more operations are useful than the gradients have."""
    filters, gradient = op.inputs[-2], op.inputs[-1]
    extents, given = _filters(filters, op.attrs), _image(gradient, op.attrs)
    made = _depthwise_product(op, _image(op.outputs[0], op.attrs), extents, gradient, filters)
    return replace(made, flops=2.0 * math.prod(given) * extents[0] * extents[1])


def _depthwise_filter_gradient(op: ChipOp) -> Product:
    image, gradient, filters = op.inputs[0], op.inputs[-1], _filters(op.outputs[0], op.attrs)
    given, kernel = _image(gradient, op.attrs), filters[0] * filters[1]
    positions, blocks = given.batch * given.height * given.width, padded(given.channels) // FRACTAL
    flops = 2.0 * positions * given.channels * kernel
    return _product(op, FRACTAL, kernel * FRACTAL, positions, blocks, flops, gradient, image, True)


_PRODUCTS: dict[str, Callable[[ChipOp], Product]] = {
    "MatMul": _matmul, "BatchMatMul": _matmul, "BatchMatMulV2": _matmul, "BatchMatMulV3": _matmul,
    "Conv2D": _conv, "Conv2DBackpropInput": _conv_input_gradient, "Conv2DBackpropFilter": _conv_filter_gradient,
    "DepthwiseConv2dNative": _depthwise, "DepthwiseConv2dNativeBackpropInput": _depthwise_input_gradient,
    "DepthwiseConv2dNativeBackpropFilter": _depthwise_filter_gradient,
}  # fmt: skip
