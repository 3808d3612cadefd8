"""Turned, moved, sheared and tilted images, with each way to fill what lies outside."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

IMAGE = arr(2, 5, 7, 3)
MAPS = {
    "same": [1, 0, 0, 0, 1, 0, 0, 0],
    "moved": [1, 0, -1.25, 0, 1, 2.5, 0, 0],
    "turned": [0.8, -0.6, 1.5, 0.6, 0.8, -2.0, 0, 0],
    "tilted": [1.2, 0.1, -3, -0.2, 0.9, 1, 0.03, -0.05],
    "far": [9, 0, -70, 0, -8, 61, 0, 0],
    "half": [0.5, 0, -0.5, 0, 0.5, 0.5, 0, 0],
    "infinite": [1, 0, 0, 0, 1, 0, -0.5, 0],
}
FILLS, WAYS = ("CONSTANT", "REFLECT", "WRAP", "NEAREST"), ("NEAREST", "BILINEAR")


def maps(*names: str) -> np.ndarray:
    return np.array([MAPS[name] for name in names], np.float32)


def seen(image: np.ndarray, by: np.ndarray, size: np.ndarray, way: str, fill: str, value: float = 0.75, id: str = "") -> Case:
    return case(
        "ImageProjectiveTransformV3",
        image,
        by,
        size,
        scalar(value),
        dtype=image.dtype.name,
        interpolation=way,
        fill_mode=fill,
        id=id,
    )


CASES = [
    *[
        seen(IMAGE, maps(name), i32(5, 7), way, fill, id=f"{name}-{way}-{fill}")
        for name in MAPS
        for way in WAYS
        for fill in FILLS
    ],
    *[seen(IMAGE, maps("turned", "tilted"), i32(4, 9), way, fill, id=f"two-{way}-{fill}") for way in WAYS for fill in FILLS],
    *[
        seen(arr(2, 4, 6, 2, dtype=t, low=0, high=90), maps("turned"), i32(4, 6), way, "CONSTANT", 2.75, id=f"{t}-{way}")
        for t in ("float16", "uint8", "int32", "int64")
        for way in WAYS
    ],
    *[seen(arr(1, 1, 1, 2), maps("moved"), i32(3, 3), "BILINEAR", fill, id=f"one-{fill}") for fill in FILLS],
    *[seen(arr(*s), maps("moved"), i32(3, 3), "BILINEAR", "CONSTANT", id=f"empty-{s}") for s in ((0, 2, 2, 1), (1, 2, 2, 0))],
    *[
        case("ImageProjectiveTransformV2", IMAGE, maps("turned"), i32(5, 7), dtype="float32", interpolation=way, **more)
        for way in WAYS
        for more in ({}, {"fill_mode": "REFLECT"})
    ],
]
