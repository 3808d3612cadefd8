"""Cells on images (N, C, H, W)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _checkparam as check
from mindspore._device.operation import apply
from mindspore.nn.cell import Cell
from npu_bridge.npu_init import tf


def _pixels_last(x: Any) -> Any:
    if x.shape.rank != 4:
        raise ValueError(f"images have four axes (N, C, H, W), and the shape is {tuple(x.shape.as_list())}")
    return tf.cast(tf.transpose(x, (0, 2, 3, 1)), tf.float32)


class ImageGradients(Cell):
    """(dy, dx): what each pixel differs from the next one below and to the right; zeros at the edge."""

    def construct(self, images: Any) -> Any:
        def differences(x: Any) -> Any:
            below = tf.pad(x[:, :, 1:] - x[:, :, :-1], [[0, 0], [0, 0], [0, 1], [0, 0]])
            return below, tf.pad(x[..., 1:] - x[..., :-1], [[0, 0], [0, 0], [0, 0], [0, 1]])

        return apply("ImageGradients", differences, images)


class _Likeness(Cell):
    """A number for each pair of images."""

    def _measured(self, img1: Any, img2: Any, function: Callable[..., Any]) -> Any:
        key = (self.cls_name, repr(sorted((name, value) for name, value in vars(self).items() if name in ("max_val", "window"))))
        return apply(key, lambda one, other: function(_pixels_last(one), _pixels_last(other)), img1, img2)


class SSIM(_Likeness):
    """The structural likeness of two images, 1 for equal ones."""

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_val = max_val
        self.window = (check.positive_int(filter_size, "filter_size", "SSIM"), filter_sigma, k1, k2)

    def construct(self, img1: Any, img2: Any) -> Any:
        return self._measured(img1, img2, lambda one, other: tf.image.ssim(one, other, self.max_val, *self.window))


class MSSSIM(_Likeness):
    """The structural likeness over several sizes of the images."""

    def __init__(
        self, max_val: float = 1.0, power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size: int = 11,
        filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_val, self.window = max_val, (tuple(power_factors), filter_size, filter_sigma, k1, k2)

    def construct(self, img1: Any, img2: Any) -> Any:
        return self._measured(img1, img2, lambda one, other: tf.image.ssim_multiscale(one, other, self.max_val, *self.window))


class PSNR(_Likeness):
    """The peak signal by the noise, in decibels."""

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        self.max_val = max_val

    def construct(self, img1: Any, img2: Any) -> Any:
        return self._measured(img1, img2, lambda one, other: tf.image.psnr(one, other, self.max_val))


class CentralCrop(Cell):
    """The middle of images: that part of their height and of their width."""

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        if not 0 < check.a_float(central_fraction, "central_fraction", "CentralCrop") <= 1:
            raise ValueError(f"CentralCrop(central_fraction={central_fraction}): a number above 0 and up to 1 is needed")
        self.central_fraction = central_fraction

    def construct(self, image: Any) -> Any:
        height, width = image.shape[-2:]
        top, left = (int((extent - extent * self.central_fraction) / 2) for extent in (height, width))
        return image[..., top : height - top, left : width - left]


__all__ = ["MSSSIM", "PSNR", "SSIM", "CentralCrop", "ImageGradients"]
