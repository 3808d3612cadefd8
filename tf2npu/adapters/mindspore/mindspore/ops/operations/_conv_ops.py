"""Convolutions and pooling, over images N, C, H, W."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._checkparam import one_of, pair
from mindspore.ops.primitive import Primitive
from npu_bridge.npu_init import tf

_PAD_MODES = ("valid", "same", "pad")


def _sides(pad: Any, owner: str) -> list[int]:
    """Rows above and below, columns left and right."""
    sides = [pad] * 4 if isinstance(pad, int) else list(pad)
    if len(sides) != 4 or any(not isinstance(one, int) or one < 0 for one in sides):
        raise ValueError(f"{owner}(pad={pad!r}): a whole number of 0 or more is needed, or (top, bottom, left, right)")
    return sides


class _Window(Primitive):
    """An operator whose window moves over images."""

    @property
    def _padding(self) -> Any:
        """TensorFlow's padding."""
        if self.pad_mode != "pad":
            return self.pad_mode.upper()
        top, bottom, left, right = self._pad
        return [[0, 0], [0, 0], [top, bottom], [left, right]]

    def _check(self) -> None:
        """Raises: ValueError for attributes that r1.1 refuses."""
        self.attrs["pad_mode"] = one_of(str(self.pad_mode).lower(), _PAD_MODES, "pad_mode", self.name)
        self._pad = _sides(self.pad, self.name)
        if self.pad_mode != "pad" and any(self._pad):
            raise ValueError(f'{self.name}(pad={self.pad!r}, pad_mode={self.pad_mode!r}): pad is 0 unless pad_mode is "pad"')
        one_of(self.attrs.get("data_format", "NCHW"), ("NCHW",), "data_format", f"{self.name} on an Ascend NPU")
        self._stride = [1, 1, *pair(self.stride, "stride", self.name)]
        self._dilation = [1, 1, *pair(self.dilation, "dilation", self.name)]
        self.attrs["kernel_size"] = pair(self.kernel_size, "kernel_size", self.name)

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._check()


class Conv2D(_Window):
    """The convolution with a weight (out, in / group, height, width)."""

    defaults = (
        ("out_channel", 1), ("kernel_size", 1), ("mode", 1), ("pad_mode", "valid"), ("pad", 0), ("stride", 1), ("dilation", 1),
        ("group", 1), ("data_format", "NCHW"),
    )  # fmt: skip

    def compute(self, x: Any, weight: Any, **_: Any) -> Any:
        """The node of the convolution; that of one input channel a group is the depthwise one."""
        self._check_shapes(x, weight)
        kernel = tf.transpose(weight, (2, 3, 1, 0))
        if self.group > 1 and weight.shape[1] == 1 and self._stride[2] == self._stride[3] and self._dilation == [1] * 4:
            return _depthwise(x, kernel, self.group, self._stride, self._padding)
        return tf.nn.conv2d(x, kernel, self._stride, self._padding, data_format="NCHW", dilations=self._dilation)

    def _check_shapes(self, x: Any, weight: Any) -> None:
        if x.shape.rank != 4:
            raise ValueError(f"{self.name} takes images of four axes (N, C, H, W), and got the shape {tuple(x.shape.as_list())}")
        if weight.shape[1] * self.group != x.shape[1]:
            raise ValueError(
                f"{self.name}: the input has {x.shape[1]} channels, and the weight {tuple(weight.shape.as_list())} with "
                f"group={self.group} is for {weight.shape[1] * self.group}"
            )
        if tuple(weight.shape.as_list()[2:]) != self.kernel_size:
            raise ValueError(
                f"{self.name}: kernel_size is {self.kernel_size}, and the weight has {tuple(weight.shape.as_list())}"
            )


def _depthwise(x: Any, kernel: Any, channels: int, stride: Any, padding: Any) -> Any:
    """kernel: (height, width, 1, channels * multiplier), with the outputs of a channel side by side."""
    height, width, _, outputs = kernel.shape.as_list()
    kernel = tf.reshape(kernel, (height, width, channels, outputs // channels))
    if not isinstance(padding, str):
        x, padding = tf.pad(x, padding), "VALID"
    return tf.nn.depthwise_conv2d(x, kernel, stride, padding, data_format="NCHW")


class DepthwiseConv2dNative(_Window):
    """The convolution of each channel alone, with a weight (1, channels, height, width)."""

    defaults = (
        ("channel_multiplier", 1), ("kernel_size", 1), ("mode", 3), ("pad_mode", "valid"), ("pad", 0), ("stride", 1),
        ("dilation", 1), ("group", 1),
    )  # fmt: skip

    def compute(self, x: Any, weight: Any, **_: Any) -> Any:
        """The node of the convolution."""
        n_filters, channels, height, width = weight.shape.as_list()
        for what, number in (("first extent of the weight", n_filters), ("channel_multiplier", self.channel_multiplier)):
            if number != 1:
                raise ValueError(f"DepthwiseConv2dNative: the {what} is {number}, and the weight has one filter for each channel")
        kernel = tf.reshape(tf.transpose(weight, (2, 3, 1, 0)), (height, width, 1, channels))
        if self._dilation == [1] * 4 and self._stride[2] == self._stride[3]:
            return _depthwise(x, kernel, channels, self._stride, self._padding)
        return tf.nn.conv2d(x, kernel, self._stride, self._padding, data_format="NCHW", dilations=self._dilation)


class Conv2DBackpropInput(_Window):
    """The transposed convolution, to images of a given shape."""

    defaults = (
        ("out_channel", 1), ("kernel_size", 1), ("pad_mode", "valid"), ("pad", 0), ("pad_list", None), ("mode", 1),
        ("stride", 1), ("dilation", 1), ("group", 1), ("data_format", "NCHW"),
    )  # fmt: skip

    def compute(self, gradient: Any, weight: Any, shape: Any, **_: Any) -> Any:
        """The node of the transposed convolution."""
        explicit = [] if self.pad_mode != "pad" else [0, 0, 0, 0, *self._pad]
        return tf.raw_ops.Conv2DBackpropInput(
            input_sizes=tf.constant(shape, tf.int32), filter=tf.transpose(weight, (2, 3, 1, 0)), out_backprop=gradient,
            strides=self._stride, padding="EXPLICIT" if explicit else self.pad_mode.upper(), explicit_paddings=explicit,
            data_format="NCHW", dilations=self._dilation,
        )  # fmt: skip


class _Pool(Primitive):
    """Pooling of images."""

    defaults = (("ksize", 1), ("strides", 1), ("padding", "valid"), ("data_format", "NCHW"))
    function: Callable[..., Any]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.attrs["padding"] = one_of(str(self.padding).upper(), ("VALID", "SAME"), "padding", self.name)
        one_of(self.data_format, ("NCHW",), "data_format", f"{self.name} on an Ascend NPU")
        self._window = [1, 1, *pair(self.ksize, "ksize", self.name)]
        self._stride = [1, 1, *pair(self.strides, "strides", self.name)]

    def compute(self, x: Any, **_: Any) -> Any:
        """The node of the pooling."""
        if x.shape.rank != 4:
            raise ValueError(f"{self.name} takes images of four axes (N, C, H, W), and got the shape {tuple(x.shape.as_list())}")
        if self.padding == "VALID" and any(part > whole for part, whole in zip(self._window, x.shape.as_list(), strict=True)):
            raise ValueError(f"{self.name}: a window of {self._window[2:]} does not fit in the shape {tuple(x.shape.as_list())}")
        return type(self).function(x, self._window, self._stride, self.padding, data_format="NCHW")


class MaxPool(_Pool):
    """The greatest number of each window."""

    function = staticmethod(tf.nn.max_pool)


class AvgPool(_Pool):
    """The mean of each window; what is padded does not count."""

    function = staticmethod(tf.nn.avg_pool)


class MaxPoolWithArgmax(_Pool):
    """The greatest number of each window, and its place in the image of its channel."""

    function = staticmethod(tf.nn.max_pool)

    def compute(self, x: Any, **_: Any) -> Any:
        """(numbers, places)."""
        channels = x.shape[1]
        images = tf.transpose(x, (0, 2, 3, 1))
        window, stride = ([1, *one[2:], 1] for one in (self._window, self._stride))
        places = tf.nn.max_pool_with_argmax(tf.cast(images, tf.float32), window, stride, self.padding)[1]
        return super().compute(x), tf.transpose(tf.cast(places // channels, tf.int32), (0, 3, 1, 2))


__all__ = ["AvgPool", "Conv2D", "Conv2DBackpropInput", "DepthwiseConv2dNative", "MaxPool", "MaxPoolWithArgmax"]
