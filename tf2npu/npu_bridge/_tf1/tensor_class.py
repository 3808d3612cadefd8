"""Makes ``tf.Tensor`` the class of a graph's tensors, as in TF 1.15, where scripts ask whether ``type(x) is tf.Tensor``.

Source: TensorFlow 2.15, tensorflow/python/framework/ops.py: the tensors of a graph are of ``SymbolicTensor`` and those of eager
execution of ``EagerTensor``, both below ``tf.Tensor``, of which no tensor is itself.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from npu_bridge._tf1 import twins
from npu_bridge._tf1.journal import Journal
from tensorflow.python.framework import ops
from tensorflow.python.framework.tensor import Tensor

V1_PATHS = (twins.V1, "tensorflow.compat.v1")
"""One file that Python loads twice: as TensorFlow's own module and as what scripts import."""


def unify(journal: Journal) -> None:
    """Give the name ``Tensor`` to the class of graph tensors, until the script switches to eager execution."""
    journal.set(vars(ops), "Tensor", ops.SymbolicTensor)
    enable = _with_eager_tensors(ops.enable_eager_execution)
    for names in public_names():
        journal.set(names, "Tensor", ops.SymbolicTensor)
        journal.set(names, "enable_eager_execution", enable)


def public_names() -> list[dict[str, Any]]:
    """The namespaces of TF1's names: of a module and, as some of them have one, of TensorFlow's deprecation wrapper around it."""
    modules = [import_module(path) for path in V1_PATHS]
    return [names for module in modules for names in (vars(module), twins.names_of(module))]


def _with_eager_tensors(enable: Callable[..., None]) -> Callable[..., None]:
    """TensorFlow's function, which also lets ``isinstance(x, tf.Tensor)`` hold for the tensors that come from now on."""

    @functools.wraps(enable)
    def enable_eager_execution(*arguments: Any, **options: Any) -> None:
        enable(*arguments, **options)
        for names in (*public_names(), vars(sys.modules["tensorflow"]), vars(ops)):
            names["Tensor"] = Tensor

    return enable_eager_execution
