"""Handles of resources of eager code: what they lead to, and the one name of it in this process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

_TEXT = re.compile(r'ResourceHandle\(name="(?P<name>.*?)", device=".*?", container="(?P<container>.*?)", type="(?P<type>.*?)"')
_VALUE = re.compile(r"DType enum: (?P<dtype>\d+), Shape: (?P<shape><unknown>|\[[^\]]*\])")
_VARIABLE = "tensorflow::Var"
_ANONYMOUS = "Anonymous"
"""Container of the variables that only their handles lead to, which are all that eager code makes itself."""


@dataclass(frozen=True)
class Handle:
    """A variable's handle.

    name: of the variable, which no other in the process has, nor had.  title: what TensorFlow's messages call it.  shape: as
    declared; None: any.
    """

    name: str
    title: str
    dtype: str
    shape: tuple[int | None, ...] | None


def read_handle(tensor: Any) -> Handle | None:
    """The handle of a variable; None for one of any other resource.  tensor: eager, of type resource.

    Source: the text of a ResourceHandle in TensorFlow (core/framework/resource_handle.cc), the only place where Python sees
    the name that eager variables get, which a counter of the process makes unique.
    """
    text = str(tensor)
    found, value = _TEXT.search(text), _VALUE.search(text)
    if found is None or value is None or found["type"] != _VARIABLE:
        return None
    dtype = tf.as_dtype(int(value["dtype"])).name
    container = "" if found["container"] == _ANONYMOUS else f"{found['container']}:"
    return Handle(container + found["name"], found["name"], dtype, _shape(value["shape"]))


def _shape(text: str) -> tuple[int | None, ...] | None:
    if text == "<unknown>":
        return None
    return tuple(None if n.strip() in ("?", "-1") else int(n) for n in text[1:-1].split(",") if n.strip())
