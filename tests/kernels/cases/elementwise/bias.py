"""Cases of npu_runtime.kernels.elementwise.bias."""

import numpy as np

from tests.kernels.harness import arr, case

TYPES = ("float32", "float16", "bfloat16", "int32", "int64", "int8", "uint8")

ADD = [
    *[case("BiasAdd", arr(3, 4, dtype=t), arr(4, dtype=t, seed=1), id=t, data_format="NHWC") for t in TYPES],
    *[case("BiasAddV1", arr(3, 5, 4, dtype=t), arr(4, dtype=t, seed=1), id=t) for t in TYPES],
    *[
        case("BiasAdd", arr(*shape), arr(shape[-1], seed=1), id=f"NHWC-{shape}", data_format="NHWC")
        for shape in ((2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 4, 5), (0, 3, 3, 2), (2, 3, 0), (40, 30, 30, 7), (1, 1))
    ],
    *[
        case("BiasAdd", arr(*shape), arr(shape[1], seed=1), id=f"NCHW-{shape}", data_format="NCHW")
        for shape in ((2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 4, 5), (0, 3, 3, 2), (30, 9, 20, 20))
    ],
    case("BiasAdd", np.array([[np.nan, np.inf], [1, -np.inf]], "f"), arr(2), id="nan", data_format="NHWC"),
]

GRADIENT = [
    *[case("BiasAddGrad", arr(3, 4, 5, 4, dtype=t), id=t, data_format="NHWC") for t in TYPES],
    *[
        case("BiasAddGrad", arr(*shape, low=-1, high=3), id=f"NHWC-{shape}", data_format="NHWC")
        for shape in (
            (2, 3),
            (7, 3, 4),
            (2, 3, 2, 4, 5),
            (0, 3, 3, 2),
            (2, 3, 0),
            (40, 30, 30, 7),
            (1, 1),
            (5000, 1),
            (3, 5000),
            (2053, 64),
            (1031, 1031),
        )
    ],
    *[
        case("BiasAddGrad", arr(*shape, dtype=t, low=-1, high=3), id=f"NCHW-{t}-{shape}", data_format="NCHW")
        for t in ("float32", "float16", "int32")
        for shape in ((2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 4, 5), (0, 3, 3, 2), (30, 9, 20, 20))
    ],
]

CASES = ADD + GRADIENT
