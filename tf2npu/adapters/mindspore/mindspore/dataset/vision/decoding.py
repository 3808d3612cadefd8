"""Decoding of image files by TensorFlow's kernels on the host."""

from __future__ import annotations

import numpy as np

JPEG, PNG, BMP, GIF = b"\xff\xd8\xff", b"\x89PNG", b"BM", b"GIF8"


def decoded(content: np.ndarray, who: str = "Decode") -> np.ndarray:
    """The image (height, width, 3) of uint8 in a file's bytes.  who: named in the error; the file where it is known."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import errors, ops
    from tensorflow.python.ops import gen_image_ops

    if content.ndim != 1:
        raise TypeError(f"{who}: an encoded image has one axis and this has {content.ndim}: it is decoded already")
    data = content.tobytes()
    with ops.init_scope(), context.eager_mode(), ops.device("CPU:0"):
        try:
            if data.startswith(JPEG):
                return gen_image_ops.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE").numpy()
            if data.startswith(PNG):
                return gen_image_ops.decode_png(data, channels=3).numpy()
            if data.startswith(BMP):
                return without_alpha(gen_image_ops.decode_bmp(data, channels=0).numpy())
        except errors.InvalidArgumentError as error:
            raise RuntimeError(
                f"{who}: the image cannot be read, its file may be cut off: {error.message.splitlines()[0]}"
            ) from error
    raise RuntimeError(f"{who}: the bytes are no image in JPEG, PNG or BMP: convert the file, or take it out of the folder")


def without_alpha(image: np.ndarray) -> np.ndarray:
    """Three channels of an image with one, three or four."""
    return np.repeat(image, 3, axis=2) if image.shape[2] == 1 else image[:, :, :3]
