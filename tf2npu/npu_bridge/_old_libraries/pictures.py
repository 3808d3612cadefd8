"""``scipy.misc``'s functions for pictures, over Pillow, and its mathematics, which moved to ``scipy.special``.

Source: scipy/misc/pilutil.py of SciPy 1.1, the last release with them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from npu_bridge._old_libraries.names import Maker, offer
from npu_bridge._tf1.journal import Journal

_SPECIAL = ("comb", "factorial", "factorial2", "factorialk", "logsumexp")
_INTERPOLATIONS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}


def add(journal: Journal, misc: ModuleType) -> None:
    """Bring the functions back; those for pictures raise an ImportError when Pillow is not there."""
    names: dict[str, tuple[str, Maker]] = {
        name: (f"scipy.special.{name}", lambda name=name: getattr(import_module("scipy.special"), name)) for name in _SPECIAL
    }
    pictures = {"imread": imread, "imsave": imsave, "imresize": imresize, "imrotate": imrotate, "toimage": toimage,
                "fromimage": fromimage, "bytescale": bytescale}  # fmt: skip
    for name, function in pictures.items():
        names[name] = ("imageio or Pillow", lambda function=function: function)
    offer(journal, misc, {name: value for name, value in names.items() if name not in vars(misc)})


def _pillow() -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError:
        raise ImportError("scipy.misc's functions for pictures need Pillow: install the package Pillow") from None


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> np.ndarray:
    """Values from cmin..cmax (the array's own range when not given) to low..high as uint8; uint8 stays.

    Raises: ValueError for low and high outside 0..255 or crossed, or cmax below cmin.
    """
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if high > 255 or low < 0 or high < low:
        raise ValueError(f"`low` and `high` should be in 0..255 and in order, got {low} and {high}")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    if cmax < cmin:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scale = float(high - low) / ((cmax - cmin) or 1)
    return (np.clip((data - cmin) * scale + low, low, high) + 0.5).astype(np.uint8)


def toimage(arr: Any, high: int = 255, low: int = 0, cmin: Any = None, cmax: Any = None, mode: str | None = None) -> Any:
    """A Pillow image of (rows, columns), (rows, columns, 3 or 4) or (3 or 4, rows, columns), scaled to bytes.

    Raises: ValueError for another shape.
    """
    data = np.asarray(arr)
    if data.ndim == 3 and data.shape[-1] not in (3, 4) and data.shape[0] in (3, 4):
        data = np.moveaxis(data, 0, -1)
    if data.ndim not in (2, 3) or (data.ndim == 3 and data.shape[-1] not in (3, 4)):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    if mode == "F":
        return _pillow().fromarray(data.astype(np.float32), "F")
    image = _pillow().fromarray(bytescale(data, cmin, cmax, high, low))
    return image if mode is None else image.convert(mode)


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """A Pillow image as an array; flatten gives one float32 channel."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """A picture file as an array."""
    with _pillow().open(name) as image:
        return fromimage(image, flatten=flatten, mode=mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Write an array as a picture, scaled to bytes."""
    toimage(arr).save(name, **({} if format is None else {"format": format}))


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> np.ndarray:
    """A picture of another size: a percentage (int), a factor (float) or (rows, columns)."""
    image = toimage(arr, mode=mode)
    if isinstance(size, int | np.integer):
        size = size / 100.0
    if isinstance(size, float | np.floating):
        wanted = tuple((np.array(image.size) * size).astype(int))
    else:
        wanted = (size[1], size[0])
    return fromimage(image.resize(wanted, resample=_INTERPOLATIONS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """A picture turned counterclockwise by ``angle`` degrees."""
    return fromimage(toimage(arr).rotate(angle, resample=_INTERPOLATIONS[interp]))


def _add_reading(journal: Journal, ndimage: ModuleType) -> None:
    """Bring ``scipy.ndimage.imread`` back, which read as ``scipy.misc.imread`` did."""
    offer(journal, ndimage, {"imread": ("imageio or Pillow", lambda: imread)} if "imread" not in vars(ndimage) else {})


CHANGES = {"scipy.misc": add, "scipy.ndimage": _add_reading}
"""Changes to run after an import, by module."""
