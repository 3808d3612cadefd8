"""Conditions that stop a step, with the values that explain why in TensorFlow's words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.variable_access import no_outputs, shape_text

TEXT_TOO = {"T": dt.ALL | {"string"}}
_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


@kernel("Assert", unit="scalar", shape=no_outputs, dtypes=TEXT_TOO, takes_text=True)
def check(condition: np.ndarray, /, *data: np.ndarray, summarize: int = 3) -> None:
    """Nothing when the condition is true.

    condition: () bool.  data: what to show, any shapes and types.  summarize: elements of each shown, -1: all.
    Raises: InvalidArgument "assertion failed: [...] [...]" otherwise.  Source: TensorFlow op `Assert`.
    """
    if condition.ndim:
        raise InvalidArgument(f"In[0] should be a scalar: {shape_text(condition.shape)}")
    if not condition:
        shown = " ".join(f"[{summary(value, summarize)}]" for value in data)
        raise InvalidArgument(f"assertion failed: {shown}")


def summary(value: np.ndarray, limit: int) -> str:
    """The first elements of an array as TensorFlow prints them.  Source: core/framework/tensor.cc, SummarizeValue."""
    if limit < 0:
        limit = value.size
    words = [_word(element) for element in value.reshape(-1)[:limit]]
    more = "..." if value.size > limit and (limit or value.dtype != np.bool_) else ""  # no dots for no booleans
    if not value.ndim:
        return "".join(words) + more
    return _nested(words, value.shape, value.size > limit) + more


def _nested(words: list[str], shape: tuple[int, ...], is_cut: bool) -> str:
    """Words in brackets by row: nothing is opened once they are used up; a row that is cut short ends in dots."""
    if len(shape) == 1:
        return " ".join(words)
    size = math.prod(shape[1:])
    if not size:
        return "[" + "][".join(_nested([], shape[1:], False) for _ in range(shape[0])) + "]" if words else ""
    rows = [words[start : start + size] for start in range(0, len(words), size)]
    inner = [_nested(row, shape[1:], len(row) < size) for row in rows]
    if is_cut and rows and len(rows[-1]) < size and len(shape) == 2:
        inner[-1] += "..."
    return "".join(f"[{text}]" for text in inner)


def _word(element: Any) -> str:
    if isinstance(element, bytes | str):
        return _escaped(element.encode() if isinstance(element, str) else element)
    if isinstance(element, np.bool_):
        return str(int(element))
    if isinstance(element, np.integer):
        return str(int(element))
    return _number(float(element))


def _escaped(text: bytes) -> str:
    """Control characters, quotes and backslashes escaped.  Source: absl::Utf8SafeCEscape."""
    shown = text.decode("utf-8", "surrogateescape")
    return "".join(_ESCAPES.get(ord(c)) or (c if " " <= c != "\x7f" else f"\\{ord(c):03o}") for c in shown)


def _number(value: float) -> str:
    """The shortest of 6 or 9 digits that gives the fp32 value back.  Source: core/platform/numbers.cc, FloatToBuffer."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    short = f"{value:.6g}"
    return short if np.float32(short) == np.float32(value) else f"{value:.9g}"
