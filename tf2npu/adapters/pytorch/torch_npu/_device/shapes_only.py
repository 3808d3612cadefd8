"""Runs that compute shapes and no numbers: tensors of the hosts are on PyTorch's device `meta` then.

`tf2npu predict --shapes-only` asks for it. A number that the script reads is 0, so that a loss prints as 0.0.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from npu_formats.documents.prediction_request import read_request

_aten = torch.ops.aten
_NUMBERS: dict[torch.dtype, Any] = {
    torch.bool: False,
    torch.float64: 0.0,
    torch.float32: 0.0,
    torch.float16: 0.0,
    torch.bfloat16: 0.0,
}


def _is_asked() -> bool:
    request = read_request(os.environ)
    return request is not None and request.shapes_only


IS_ON = _is_asked()
HOST = torch.device("meta" if IS_ON else "cpu")
"""The device that the tensors of the hosts are on."""


def _read_number(source: torch.Tensor) -> Any:
    return False if source.dtype is torch.bool else 0.0 if source.dtype.is_floating_point else 0


def _to_copy(source: torch.Tensor, **wanted: Any) -> torch.Tensor:
    if source.is_meta and wanted.get("device") == torch.device("cpu"):
        return torch.zeros(source.shape, dtype=wanted.get("dtype") or source.dtype)
    return _aten._to_copy.default(source, **wanted)


def _copy(target: torch.Tensor, source: torch.Tensor, *args: Any) -> torch.Tensor:
    return target if source.is_meta and not target.is_meta else _aten.copy_.default(target, source, *args)


_KERNELS: dict[Any, Callable[..., Any]] = {
    _aten._local_scalar_dense.default: _read_number,
    _aten.is_nonzero.default: lambda source: False,
    _aten.equal.default: lambda one, other: one.shape == other.shape,
    _aten._to_copy.default: _to_copy,
    _aten.copy_.default: _copy,
}


def run(operator: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of an operator without its numbers.  Raises: RuntimeError where its shape depends on numbers."""
    try:
        return _KERNELS.get(operator, operator)(*args, **kwargs)
    except RuntimeError as error:
        if "'Meta' backend" not in str(error) and "meta" not in str(error):
            raise
        raise RuntimeError(
            f"--shapes-only cannot tell the shape of what {operator} gives, which depends on numbers: predict without it"
        ) from None


def on_host(source: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
    """A copy of a host's tensor in the memory of this machine; zeros where it has no numbers."""
    if source.is_meta:
        return torch.zeros(source.shape, dtype=dtype or source.dtype)
    return source.detach().to(dtype=dtype, copy=True)
