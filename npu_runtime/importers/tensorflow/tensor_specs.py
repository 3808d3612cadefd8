"""Specs of TensorFlow's tensors."""

from __future__ import annotations

from typing import Any

from npu_runtime.graph.spec import Spec


def import_spec(tensor: Any) -> Spec:
    """Shape and type of a tf.Tensor. A resource's shape is that of what it leads to, which TensorFlow's tensor does not tell."""
    name = tensor.dtype.base_dtype.name
    is_unknown = tensor.shape.rank is None or name == "resource"
    return Spec(None if is_unknown else tuple(tensor.shape.as_list()), name)
