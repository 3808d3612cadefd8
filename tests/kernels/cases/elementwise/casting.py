"""Every pair of types; rounding, truncation and what does not fit."""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt
from tests.kernels.harness import arr, case, scalar

TYPES = sorted(dt.ALL)
FLOATS = sorted(dt.FLOATS)
ODD = np.array([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.7, 2.7, 127.9, 255.0, -128.0, 65504.0, 65520.0, 1e5, 3.14159274,
                1.00390625, 1e-8, -1e-8], np.float32)  # fmt: skip
NOT_FINITE = np.array([np.inf, -np.inf, np.nan], np.float32)
BEYOND = np.array([3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan], np.float32)
OUTSIDE = np.array([-1, -0.5, -1.5, -2, -129, -300, -40000, -65504, 127.5, 128, 255.5, 256, 300, 32767, 32768, 40000, 65504, 1e5,
                    -1e5, 2147483648, -2147483648, 3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan, 200], np.float32)  # fmt: skip
KEYS = np.array([[0, 1, 5], [2**63, 2**64 - 1, 0x0123456789ABCDEF]], np.uint64)
LARGE = np.array([70000, -70000, 300, -300, 2**31 - 1], np.int32)

CASES = [
    *[case("Cast", arr(4, 5, dtype=a, low=0 if "u" in b else -9, high=9), DstT=b, id=f"{a}-{b}") for a in TYPES for b in TYPES],
    *[case("Cast", ODD, DstT=b, id=f"odd-{b}") for b in ("int16", "int32", "int64", "bool", *FLOATS)],
    *[case("Cast", NOT_FINITE, DstT=b, id=f"nonfinite-{b}") for b in ("float16", "float32", "bool")],
    case("Cast", NOT_FINITE[:2], DstT="bfloat16", id="infinite-bfloat16"),
    *[case("Cast", BEYOND, DstT=b, id=f"beyond-{b}") for b in ("int32", "int64")],
    *[case("Cast", ODD, DstT=b, Truncate=True, id=f"truncate-{b}") for b in TYPES if b not in ("uint8", "int8", "int16")],
    *[
        case("Cast", np.tile(OUTSIDE, 9)[:n].astype(dt.to_numpy(a)), DstT=b, id=f"outside-{a}-{b}-{n}")
        for a in FLOATS
        for b in ("int8", "uint8", "int16", "bool")
        for n in (3, 8, 29, 36, 64, 201)
    ],
    *[
        case("Cast", scalar(x, a), DstT=b, id=f"outside-{a}-{b}-{x}")
        for a in FLOATS
        for b in ("int8", "uint8")
        for x in (-1, 300)
    ],
    *[case("Cast", LARGE, DstT=b, id=f"wrap-{b}") for b in ("int8", "uint8", "int16", "float16", "bfloat16")],
    *[case("Cast", KEYS, DstT=b, id=f"key-{b}") for b in [*TYPES, "uint64"]],
    *[case("Cast", arr(4, 5, dtype=a, low=-9, high=9), DstT="uint64", id=f"{a}-key") for a in sorted(dt.INTEGERS | {"bool"})],
    case("Cast", scalar(2.5), DstT="int32", id="scalar"),
    case("Cast", arr(0, 3), DstT="int32", id="empty"),
    case("Cast", arr(70001), DstT="float16", id="large-float16"),
    *[case("Cast", arr(200_003, dtype=t), DstT="float32", id=f"large-{t}") for t in ("float16", "bfloat16")],
    case("Cast", np.arange(1 << 16, dtype=np.uint16).view(np.float16), DstT="float32", id="every-float16"),
    case("Cast", arr(70001, dtype="int32", low=-1000, high=1000), DstT="float32", id="large-int32"),
    case("Cast", arr(300, 301, low=-1000, high=1000), DstT="int32", id="large-float32"),
]
