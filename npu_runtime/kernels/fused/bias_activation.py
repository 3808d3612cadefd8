"""Cube ops with an epilogue: bias and activation applied to finished blocks while they are still in cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import Estimate, n_elements
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.conv.conv import conv_flops, conv_shape, run_conv
from npu_runtime.kernels.elementwise.elementwise import leaky_relu_body, relu, relu6
from npu_runtime.kernels.half_storage import widen
from npu_runtime.kernels.linalg.epilogue import ALL, Epilogue
from npu_runtime.kernels.linalg.matmul import matmul_flops, matmul_shape, run_matmul, small_product
from npu_runtime.kernels.threads.per_channel import repeated
from npu_runtime.kernels.threads.tiling import TILE, Body
from npu_runtime.kernels.windows.windows import Layout

MOST_BY_ROWS = 1024
"""The most rows of a small product to which the bias is added row by row."""
LINE_ELEMENTS = 8192
"""Elements of a line to which the bias is added in one call."""


def _in_tiles(body: Body) -> Callable[[np.ndarray], None]:
    """An element-wise body over a block, in place; large ones piece by piece, which numpy does faster."""

    def run(block: np.ndarray) -> None:
        if not block.flags.c_contiguous:
            body(block, block)
            return
        flat = block.reshape(-1)
        for first in range(0, flat.size, TILE):
            piece = flat[first : first + TILE]
            body(piece, piece)

    return run


def _elu(block: np.ndarray) -> None:
    """x where positive, exp(x) - 1 elsewhere."""
    below = np.expm1(np.minimum(block, 0))
    np.maximum(block, 0, out=block)
    np.add(block, below, out=block)


ACTIVATIONS: dict[str, Callable[[np.ndarray], None]] = {"Relu": _in_tiles(relu), "Relu6": _in_tiles(relu6), "Elu": _elu}
FUSED = (("BiasAdd",), *[("BiasAdd", name) for name in (*ACTIVATIONS, "LeakyRelu")])
"""Values of `fused_ops` that are supported here."""


def _activation(name: str, leakyrelu_alpha: float) -> Callable[[np.ndarray], None]:
    return _in_tiles(leaky_relu_body(leakyrelu_alpha)) if name == "LeakyRelu" else ACTIVATIONS[name]


def _add_by_lines(block: np.ndarray, bias: np.ndarray, line: np.ndarray) -> None:
    """block += bias, in lines of many rows each, over which numpy's inner loop goes at once.  line: the bias, repeated."""
    height = len(line) // max(len(bias), 1)
    whole = len(block) // max(height, 1) * height
    if whole:
        lines = block[:whole].reshape(-1, len(line))
        np.add(lines, line, out=lines)
    if whole < len(block):
        np.add(block[whole:], bias, out=block[whole:])


def make_epilogue(
    bias: np.ndarray, channels: int, fused_ops: Sequence[str], leakyrelu_alpha: float, most_rows: int = LINE_ELEMENTS
) -> Epilogue:
    """The epilogue of `fused_ops` for a block of (rows, channels).  most_rows: of a block; few are not worth a line of the bias.

    Raises: InvalidArgument when the bias has another length.
    """
    if bias.shape != (channels,):
        raise InvalidArgument(f"Must provide as many biases as the last dimension of the result: {bias.shape} vs. {channels}")
    wide = widen(bias)
    height = LINE_ELEMENTS // max(channels, 1)
    line = repeated(wide, height) if 1 < height <= most_rows else wide
    activate = _activation(fused_ops[1], leakyrelu_alpha) if len(fused_ops) > 1 else None

    def epilogue(block: np.ndarray, columns: slice = ALL) -> None:
        if line is not wide and columns is ALL and block.flags.c_contiguous:
            _add_by_lines(block, wide, line)
        else:
            np.add(block, wide[columns], out=block)
        if activate is not None:
            activate(block)

    return epilogue


def _refuse(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """Chains of fused ops and layouts that no pass of ours makes."""
    if tuple(attrs["fused_ops"]) not in FUSED:
        return f"fused_ops {list(attrs['fused_ops'])}"
    if attrs.get("filter_format", "HWIO") != "HWIO" or attrs.get("data_format", "NHWC") not in ("NHWC", "NCHW"):
        return f"filter_format {attrs.get('filter_format')} with data_format {attrs.get('data_format')}"
    return None


def with_epilogue(base: Estimate) -> Estimate:
    """The cube op's work, and one an output and fused op, as its separate nodes would count."""

    def estimate(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
        return base(inputs, outputs, attrs) + len(attrs["fused_ops"]) * n_elements(outputs[0])

    return estimate


def _conv_shape(
    input: Spec, filter: Spec, *args: Spec, fused_ops: Sequence[str], leakyrelu_alpha: float = 0.2, **attrs: Any
) -> Shape:
    return conv_shape(input, filter, **attrs)


@kernel(
    "_FusedConv2D", unit="cube", shape=_conv_shape, dtypes=frozenset({"float16", "float32"}), estimate=with_epilogue(conv_flops),
    ignores=("num_args", "num_host_args", "filter_format", "use_cudnn_on_gpu", "epsilon"), refuse=_refuse,
)  # fmt: skip
def fused_conv2d(
    input: np.ndarray, filter: np.ndarray, bias: np.ndarray, /, *, fused_ops: Sequence[str], strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
    leakyrelu_alpha: float = 0.2, out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Conv2D, bias and activation in one pass over the result.

    input, filter, Returns: as Conv2D.  bias: (K,).  fused_ops: BiasAdd, perhaps followed by Relu, Relu6, Elu or LeakyRelu.
    16-bit floats are rounded once, after the activation.  Raises: InvalidArgument as Conv2D, or for a bias of another length.
    Source: TensorFlow op `_FusedConv2D`.
    """
    layout = Layout.of(strides, padding, data_format, dilations, explicit_paddings)
    return run_conv(input, filter, layout, out, make_epilogue(bias, filter.shape[-1], fused_ops, leakyrelu_alpha))


def _matmul_shape(a: Spec, b: Spec, *args: Spec, fused_ops: Sequence[str], leakyrelu_alpha: float = 0.2, **attrs: Any) -> Shape:
    return matmul_shape(a, b, **attrs)


def _small(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`."""
    multiply = small_product(inputs, outputs, attrs, is_planned)
    if multiply is None or inputs[2].shape != outputs[0].known_shape()[1:] or outputs[0].known_shape()[0] > MOST_BY_ROWS:
        return None
    activations = [_activation(name, attrs.get("leakyrelu_alpha", 0.2)) for name in attrs["fused_ops"][1:]]

    def run(a: np.ndarray, b: np.ndarray, bias: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        made: np.ndarray = multiply(a, b, out)
        np.add(made, bias, made)
        for activate in activations:
            activate(made)
        return made

    return run


@kernel(
    "_FusedMatMul", unit="cube", shape=_matmul_shape, dtypes=dt.FLOATS, estimate=with_epilogue(matmul_flops),
    ignores=("num_args", "epsilon"), refuse=_refuse, small=_small,
)  # fmt: skip
def fused_matmul(
    a: np.ndarray, b: np.ndarray, bias: np.ndarray, /, *, fused_ops: Sequence[str], transpose_a: bool = False,
    transpose_b: bool = False, leakyrelu_alpha: float = 0.2, out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """MatMul, bias and activation in one pass over the result.

    a, b, Returns: as MatMul.  bias: (n,).  fused_ops: BiasAdd, perhaps followed by Relu, Relu6, Elu or LeakyRelu.
    16-bit floats are rounded once, after the activation.  Raises: InvalidArgument as MatMul, or for a bias of another length.
    Source: TensorFlow op `_FusedMatMul`.
    """
    columns = b.shape[0 if transpose_b else -1] if b.ndim else 0
    rows = a.shape[-1 if transpose_a else 0] if a.ndim else 0
    return run_matmul(a, b, transpose_a, transpose_b, out, make_epilogue(bias, columns, fused_ops, leakyrelu_alpha, rows))
