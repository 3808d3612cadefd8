"""Cases for npu_runtime.kernels.fused.bias_activation: ops of TensorFlow's own optimiser, which has CPU kernels for them."""

import numpy as np

from npu_runtime.kernels.fused.bias_activation import FUSED
from tests.kernels.harness import arr, case


def _bias(n: int, dtype: str = "float32") -> list[np.ndarray]:
    return [arr(n, dtype=dtype, seed=2)]


CONVOLUTIONS = [
    case("_FusedConv2D", arr(*x), arr(*w, seed=1), _bias(w[3]), [], id=f"{'-'.join(ops)}-{x}-{stride}", fused_ops=list(ops),
         num_args=1, TArgs=["float32"], strides=[1, stride, stride, 1], padding="SAME")
    for ops in FUSED
    for x, w, stride in (((2, 7, 6, 3), (3, 3, 3, 4), 1), ((2, 7, 6, 3), (3, 3, 3, 4), 2), ((2, 5, 6, 8), (1, 1, 8, 5), 1),
                         ((20, 28, 28, 1), (5, 5, 1, 8), 1))
] + [
    case("_FusedConv2D", arr(2, 7, 6, 3), arr(3, 3, 3, 4), _bias(4), [], id="explicit", fused_ops=["BiasAdd"], num_args=1,
         TArgs=["float32"], strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]),
    case("_FusedConv2D", arr(2, 7, 6, 3), arr(3, 3, 3, 4), _bias(4), [], id="alpha", fused_ops=["BiasAdd", "LeakyRelu"],
         num_args=1, TArgs=["float32"], strides=[1, 1, 1, 1], padding="VALID", leakyrelu_alpha=0.7),
]  # fmt: skip

PRODUCTS = [
    case("_FusedMatMul", arr(*((k, m) if ta else (m, k)), dtype=dtype), arr(*((n, k) if tb else (k, n)), dtype=dtype, seed=1),
         _bias(n, dtype), id=f"{'-'.join(ops)}-{m}-{k}-{n}-{ta}-{tb}-{dtype}", fused_ops=list(ops), num_args=1,
         transpose_a=ta, transpose_b=tb, atol=None if dtype == "bfloat16" else 4e-6 * k)  # k terms, though Relu6 cuts their sum
    for ops in FUSED
    for m, k, n, ta, tb, dtype in (
        (5, 7, 3, False, False, "float32"), (5, 7, 3, False, True, "float32"), (5, 7, 3, True, False, "float32"),
        (600, 60, 70, False, False, "float32"), (20, 500, 600, False, False, "float32"), (0, 3, 4, False, False, "float32"),
        (5, 17, 3, False, False, "bfloat16"),
    )
]  # fmt: skip

CASES = CONVOLUTIONS + PRODUCTS
