"""Bring the device's tensor into the layout of the reference, and cut off what a chip pads.

Source of the layouts: the vendor's documents of data formats, and the behaviour of msaccucmp; the texts of failures are its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tf2npu.comparison.tensors.stored_tensor import StoredTensor

FORMATS = {
    "NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "FRACTAL_Z": 4, "NC1C0HWPAD": 5, "NHWC1C0": 6, "FSR_NCHW": 7,
    "FRACTAL_DECONV": 8, "C1HWNC0": 9, "FRACTAL_DECONV_TRANSPOSE": 10, "NC1HWC0_C04": 12, "FRACTAL_Z_C04": 13, "CHWN": 14,
    "HWCN": 16, "NC1KHKWHWC0": 17, "BN_WEIGHT": 18, "FILTER_HWCK": 19, "C1HWNCoC0": 25, "MD": 26, "NDHWC": 27,
    "FRACTAL_NZ": 29, "NCDHW": 30, "DHWCN": 31, "NDC1HWC0": 32, "FRACTAL_Z_3D": 33, "CN": 34, "DHWNC": 36,
    "FRACTAL_Z_3D_TRANSPOSE": 37, "FRACTAL_ZN_LSTM": 38, "FRACTAL_Z_G": 39, "RESERVED": 40, "ALL": 41, "NULL": 42,
}  # fmt: skip
"""The number of each layout that a graph file may name."""
_NCHW, _NHWC, _ND, _NC1HWC0, _FRACTAL_Z, _HWCN = 0, 1, 2, 3, 4, 16
_FRACTAL_NZ, _NCDHW, _NDC1HWC0 = 29, 30, 32
_TRANSPOSED = {
    (_NCHW, _NHWC): (0, 2, 3, 1), (_NHWC, _NCHW): (0, 3, 1, 2), (_NHWC, _HWCN): (1, 2, 3, 0), (_HWCN, _NCHW): (3, 2, 0, 1),
    (_HWCN, _NHWC): (3, 0, 1, 2),
}  # fmt: skip
_FROM_NCHW = {_NCHW: (0, 1, 2, 3), _NHWC: (0, 2, 3, 1), _HWCN: (2, 3, 1, 0)}
_CUBE = 16
"""Rows and columns of a block of FRACTAL_NZ."""


class NotComparable(Exception):
    """Two tensors that cannot be laid beside each other.  text: as the vendor's program says it, which may be nothing."""

    def __init__(self, text: str, why: str = "") -> None:
        super().__init__(text or why)
        self.text, self.why = text, why or text


@dataclass(frozen=True)
class Beside:
    """x, y: the elements of both, of one dimension and equal length.  shape: as the table shows it."""

    x: np.ndarray
    y: np.ndarray
    shape: tuple[int, ...]

    @property
    def is_scalar(self) -> bool:
        return is_scalar(self.shape)


def is_scalar(shape: tuple[int, ...]) -> bool:
    """Whether the vendor's program takes a shape for a scalar's: by the sum of its extents."""
    return sum(shape) == len(shape)


def beside(
    device: StoredTensor, reference: StoredTensor, origin_format: str, origin_shape: tuple[int, ...], op_name: str
) -> Beside:
    """Both tensors in one layout.

    origin_format, origin_shape: of the reference, as the graph file says; "" and () where it says nothing.
    Raises: NotComparable; Unreadable.
    """
    x, y = device.load(), reference.load()
    if not device.size:
        x = x.reshape(device.shape)
    shape = device.original_shape or origin_shape
    layout = _layout_of(origin_format, shape, reference.shape) if origin_format else device.format
    is_tensor = not is_scalar(device.shape)
    if is_tensor and (layout != _ND or device.format in (_FRACTAL_NZ, _NDC1HWC0)):
        x = _converted(x, device, layout, shape, op_name)
        y = y.reshape(reference.shape)
    if device.format != _ND or (is_tensor and x.size != y.size):
        x = _cut(x, y.shape, op_name)
    if x.size != y.size:
        raise _differing(op_name, (x.size,), (y.size,))
    return Beside(x.reshape(-1), y.reshape(-1), x.shape)


def _layout_of(name: str, shape: tuple[int, ...], reference: tuple[int, ...]) -> int:
    """The layout that a graph file names, corrected where the reference's extents say that it is the other one of images."""
    if name not in FORMATS:
        raise NotComparable(f'The format " {name} " is not supported.')
    if len(shape) == len(reference) == 4 and shape != reference:
        if name == "NHWC" and shape == tuple(reference[n] for n in (0, 2, 3, 1)):
            name = "NCHW"
        if name == "NCHW" and shape == tuple(reference[n] for n in (0, 3, 1, 2)):
            name = "NHWC"
    return FORMATS[name]


def _converted(flat: np.ndarray, device: StoredTensor, layout: int, shape: tuple[int, ...], op_name: str) -> np.ndarray:
    """The device's elements in the layout of the reference, padding and all."""
    source = device.format
    is_image_of_another_rank = source in (_NCHW, _NHWC, _HWCN) and len(device.shape) != 4
    if source in (_ND, layout) or is_image_of_another_rank:
        return flat.reshape(device.shape)
    if source == _FRACTAL_NZ:
        if layout == _ND and len(shape) > 2 and flat.size != math.prod(shape[:-2]) * math.prod(device.shape[-4:]):
            return flat.reshape(device.shape)
        _check_fractal_nz(shape, device.shape, op_name)
    try:
        return _by_axes(flat, device, layout, shape)
    except (ValueError, IndexError, KeyError, ZeroDivisionError):
        raise NotComparable(
            "", f"nobody converts layout {source} {list(device.shape)} to layout {layout} {list(shape)}"
        ) from None


def _by_axes(flat: np.ndarray, device: StoredTensor, layout: int, shape: tuple[int, ...]) -> np.ndarray:
    source, extents = device.format, device.shape
    if source in (_NCHW, _NHWC, _HWCN):
        return flat.reshape(extents).transpose(_TRANSPOSED[source, layout])
    if source == _NC1HWC0:
        n, c1, h, w, c0 = extents[:5]
        return flat.reshape(n, c1, h, w, c0).transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w).transpose(_FROM_NCHW[layout])
    if source == _FRACTAL_Z:
        return _of_fractal_z(flat, extents, layout, shape)
    if source == _FRACTAL_NZ and layout in (_ND, _NCHW, _NHWC):
        return _of_fractal_nz(flat, extents, shape)
    if source == _NDC1HWC0 and layout in (_ND, _NCDHW):
        n, d, c1, h, w, c0 = extents
        whole = flat.reshape(extents).transpose(0, 2, 5, 1, 3, 4).reshape(n, c1 * c0, d, h, w)
        return whole[:, : shape[1]] if len(shape) == 5 else whole
    raise KeyError(layout)


def _of_fractal_z(flat: np.ndarray, extents: tuple[int, ...], layout: int, shape: tuple[int, ...]) -> np.ndarray:
    h, w, c, n = shape if layout == _HWCN else (shape[2], shape[3], shape[1], shape[0])
    c1, n_blocks, block, c0 = extents[0] // (h * w), *extents[1:4]
    apart = flat.reshape(c1, h, w, n_blocks, block, c0)
    if layout == _HWCN:
        return apart.transpose(1, 2, 0, 5, 3, 4).reshape(h, w, c1 * c0, n_blocks * block)[:, :, :c, :n]
    if layout != _NCHW:
        raise KeyError(layout)
    return apart.transpose(3, 4, 0, 5, 1, 2).reshape(n_blocks * block, c1 * c0, h, w)[:n, :c]


def _of_fractal_nz(flat: np.ndarray, extents: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    rows, columns = (1, *shape)[-2:]
    n_matrices = math.prod(shape[:-2])
    c1, n_blocks, block, c0 = extents[-4:]
    apart = flat.reshape(n_matrices, c1, n_blocks, block, c0).transpose(0, 2, 3, 1, 4)
    cut = apart.reshape(n_matrices, n_blocks * block, c1 * c0)[:, :rows, :columns]
    return cut[0] if len(shape) <= 2 else cut


def _check_fractal_nz(shape: tuple[int, ...], extents: tuple[int, ...], op_name: str) -> None:
    """Refuse a shape that blocks of these extents cannot hold, or not without a whole block of padding."""
    if not shape:
        raise NotComparable(f"[{op_name}] The format before transfer is FRACTAL_NZ. Please enter a valid shape.")
    whole = (*extents[:-4], extents[-2] * extents[-3], extents[-1] * extents[-4]) if len(extents) >= 4 else ()
    is_outer = len(shape) == len(whole) and all(0 <= w - s < _CUBE for s, w in zip(shape[-2:], whole[-2:], strict=True))
    if is_outer and shape[:-2] == whole[:-2]:
        return
    text = f"The target shape {_shown(shape)} is invalid{',' if is_outer else '.'} "
    raise NotComparable(f"[{op_name}] {text}{'the' if is_outer else 'The'} recommended shape is {_shown(whole)}.")


def _cut(x: np.ndarray, shape: tuple[int, ...], op_name: str) -> np.ndarray:
    """A tensor without the padding behind the reference's extents."""
    if x.ndim < len(shape):
        own, other = (tuple(extent for extent in some if extent != 1) for some in (x.shape, shape))
        if (own or other) and (own or x.shape) != (other or shape):
            raise _differing(op_name, own or x.shape, other or shape)
        return x
    extents = (*x.shape, *(1,) * (4 - x.ndim))
    wanted = (*shape, *(1,) * (len(extents) - len(shape)))
    if math.prod(shape) == x.size and x.shape.count(1) >= x.ndim - 1:
        return x
    for extent, needed in zip(extents, wanted, strict=True):
        if extent < needed:
            raise _differing(op_name, extents, wanted)
        if extent > needed:
            parts = tuple(slice(0, n) for n in wanted) if len(extents) in (4, 5) else ()
            return x.reshape(extents)[parts]
    return x


def _differing(op_name: str, device: tuple[int, ...], reference: tuple[int, ...]) -> NotComparable:
    start = f"[{op_name}] " if op_name else ""
    text = (
        f"{start}Due to the different shapes on the left and right,the left dump data{_shown(device)} can not be compared to "
        f"the right dump data{_shown(reference)}. Please check the batch of the dump data or the shape may be changed due to "
        "optimization."
    )
    return NotComparable(text, f"the shapes differ: {list(device)} on the device, {list(reference)} in the reference")


def _shown(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def restored(tensor: StoredTensor) -> np.ndarray:
    """The elements without a chip's layout and padding, images as NCHW; as they lie where nobody knows the way back.

    Raises: Unreadable; NotComparable where elements are missing.
    """
    flat = tensor.load()
    shape = tensor.original_shape
    source = _ND if tensor.format in (_NCHW, _NHWC, _HWCN) and len(tensor.shape) != 4 else tensor.format
    layout = {4: _NCHW, 3: _ND, 2: _ND}.get(len(shape), source)
    if source == layout:
        return flat.reshape(tensor.shape)
    try:
        return _cut(_by_axes(flat, tensor, layout, shape), shape, "") if shape else flat.reshape(tensor.shape)
    except (ValueError, IndexError, KeyError, ZeroDivisionError, NotComparable):
        return flat.reshape(tensor.shape)
