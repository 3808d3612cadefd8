"""Made-up images: as arrays, and encoded by TensorFlow's own encoders."""

from __future__ import annotations

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.ops import gen_image_ops


def image(rows: int, columns: int, draw: np.random.Generator) -> np.ndarray:
    """An array (rows, columns, 3) uint8 of smooth colours, which any encoder makes small."""
    y, x = np.mgrid[0:rows, 0:columns]
    colours = [x * draw.integers(1, 5) + y * draw.integers(1, 5) + draw.integers(0, 256) for _ in range(3)]
    return (np.stack(colours, -1) % 256).astype(np.uint8)


def encoded_image(rows: int, columns: int, form: str, draw: np.random.Generator, n_channels: int = 3) -> bytes:
    """The bytes of a file.  form: "jpeg" or "png".  n_channels: 3, or 1 for shades of grey."""
    array = image(rows, columns, draw)[..., :n_channels]
    with context.eager_mode():
        made = gen_image_ops.encode_png(array) if form == "png" else gen_image_ops.encode_jpeg(array)
        data: bytes = made.numpy()
    return data
