"""Initial values of parameters.  Source of formulas and defaults: mindspore.cn, mindspore.common.initializer of r1.1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mindspore.common.dtype import Type, float32, np_type
from mindspore.common.seed import generator
from mindspore.common.tensor import Tensor


class Initializer:
    """Makes an array of a shape."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        """The values, in float64."""
        array = np.zeros(shape)
        self._initialize(array)
        return array

    def _initialize(self, arr: np.ndarray) -> None:
        """Fills an array; subclasses of programs write this one."""
        raise RuntimeError(f"{type(self).__name__} has no _initialize(self, arr)")

    def __call__(self, arr: np.ndarray) -> None:
        self._initialize(arr)


class Zero(Initializer):
    """Zeros."""

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.zeros(shape)


class One(Initializer):
    """Ones."""

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.ones(shape)


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: float) -> None:
        super().__init__(value=value)
        self.value = value

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.full(shape, self.value)


class Normal(Initializer):
    """Normal numbers.  sigma: their deviation; 0.01, and not that of Glorot."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        return generator("initial values").standard_normal(shape) * self.sigma + self.mean


class TruncatedNormal(Initializer):
    """Normal numbers; those beyond two deviations are drawn again."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        value = generator("initial values").standard_normal(shape)
        while (outside := np.abs(value) > 2).any():
            value[outside] = generator("initial values").standard_normal(int(outside.sum()))
        return value * self.sigma


class Uniform(Initializer):
    """Numbers from -scale to scale."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        return generator("initial values").uniform(-self.scale, self.scale, shape)


class XavierUniform(Initializer):
    """Numbers from -b to b with b = gain * sqrt(6 / (n_in + n_out))."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        bound = self.gain * math.sqrt(6.0 / sum(_fans(shape)))
        return generator("initial values").uniform(-bound, bound, shape)


class _He(Initializer):
    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        if mode not in ("fan_in", "fan_out"):
            raise ValueError(f'mode={mode!r}: it is "fan_in" or "fan_out"')
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _deviation(self, shape: tuple[int, ...]) -> float:
        fan = _fans(shape)[self.mode == "fan_out"]
        return _gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


class HeUniform(_He):
    """Numbers from -b to b with b = sqrt(3) * gain / sqrt(fan)."""

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        bound = math.sqrt(3.0) * self._deviation(shape)
        return generator("initial values").uniform(-bound, bound, shape)


class HeNormal(_He):
    """Normal numbers of the deviation gain / sqrt(fan)."""

    def make(self, shape: tuple[int, ...]) -> np.ndarray:
        return generator("initial values").standard_normal(shape) * self._deviation(shape)


def _fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """The inputs and outputs of a weight (out, in, ...).  Raises: ValueError for fewer than two axes."""
    if len(shape) < 2:
        raise ValueError(f"the initial values of shape {shape} need two axes or more: (out, in, ...)")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _gain(nonlinearity: str, slope: float) -> float:
    known = {"sigmoid": 1.0, "linear": 1.0, "conv2d": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0)}
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in known:
        raise ValueError(f"nonlinearity={nonlinearity!r}: it is one of {', '.join([*known, 'leaky_relu'])}")
    return known[nonlinearity]


_BY_NAME = {
    "normal": Normal, "zeros": Zero, "zero": Zero, "ones": One, "one": One, "uniform": Uniform, "he_uniform": HeUniform,
    "henormal": HeNormal, "heuniform": HeUniform, "he_normal": HeNormal, "xavier_uniform": XavierUniform,
    "xavieruniform": XavierUniform, "truncatednormal": TruncatedNormal, "truncated_normal": TruncatedNormal,
}  # fmt: skip


def initializer(init: Any, shape: Any = None, dtype: Type = float32) -> Tensor:
    """A tensor of initial values.

    init: a tensor, which must have the shape; the name of an initializer; one; or a number.
    Raises: ValueError for another shape or an unknown name; TypeError for something else.
    """
    if isinstance(init, Tensor):
        return _given(init, shape)
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(not isinstance(extent, (int, np.integer)) or extent <= 0 for extent in shape):
        raise ValueError(f"initializer(shape={shape}): each extent is a whole number above 0")
    if isinstance(init, str):
        if init.lower() not in _BY_NAME:
            raise ValueError(f"initializer({init!r}): the names are {', '.join(sorted(_BY_NAME))}")
        init = _BY_NAME[init.lower()]()
    if isinstance(init, (int, float, np.number)):
        init = Constant(init)
    if not isinstance(init, Initializer):
        raise TypeError(f"initializer({init!r}): a tensor, a number, an initializer or the name of one is needed")
    return Tensor(init.make(shape).astype(np_type(dtype)))


def _given(init: Tensor, shape: Any) -> Tensor:
    wanted = init.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    if init.shape != wanted:
        raise ValueError(f"the shape of the initial value is {init.shape}, and not {wanted}")
    return init
