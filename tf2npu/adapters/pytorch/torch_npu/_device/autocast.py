"""Mixed precision: which operators take 16 bits under autocast, and which 32.

Tensors of the devices have the dispatch key of PrivateUse1's autocast, so that `torch.autocast("npu")` finds the casts here. The
lists are those that PyTorch documents for autocast on accelerators ("Autocast Op Reference").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from .tensor import NpuTensor

LOWER = (
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "linalg_multi_dot", "conv1d", "conv2d",
    "conv3d", "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", "convolution", "einsum", "gru_cell",
    "linear",
    "lstm_cell", "matmul", "mm", "mv", "prelu", "rnn_tanh_cell", "rnn_relu_cell", "scaled_dot_product_attention", "conv_tbc",
)  # fmt: skip
"""Operators in the type of autocast, float16 unless asked otherwise."""

WIDER = (
    "acos", "asin", "binary_cross_entropy_with_logits", "cosh", "cosine_embedding_loss", "cdist", "cosine_similarity",
    "cross_entropy_loss", "cumprod", "cumsum", "dist", "erfinv", "exp", "expm1", "group_norm", "hinge_embedding_loss", "kl_div",
    "l1_loss", "layer_norm", "log", "log10", "log_softmax.int", "log1p", "log2", "margin_ranking_loss", "mse_loss",
    "multilabel_margin_loss", "multi_margin_loss", "nll_loss", "nll_loss2d", "nll_loss_nd", "norm.Scalar", "norm.ScalarOpt_dim",
    "pdist", "poisson_nll_loss", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "prod", "prod.dim_int", "reciprocal",
    "renorm", "rsqrt", "sinh", "smooth_l1_loss", "soft_margin_loss", "softmax.int", "softplus", "sum", "sum.dim_IntList", "tan",
    "triplet_margin_loss",
)  # fmt: skip
"""Operators in float32."""

PROMOTED = (
    "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "grid_sampler", "index_put", "scatter_add", "tensordot", "vdot",
    "cat", "stack",
)  # fmt: skip
"""Operators in the widest type of their arguments."""

REFUSED = "binary_cross_entropy"
"""The loss that PyTorch refuses under autocast, as float16 is too narrow for what it gets."""

_OWN = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
_aten = torch.library.Library("aten", "IMPL")
_others = torch.library.Library("_", "IMPL")
_casts: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
"""Parameters and their 16-bit form, until autocast ends: a weight that is used twice is cast once."""


def _is_narrowable(value: Any) -> bool:
    return isinstance(value, NpuTensor) and value.is_floating_point() and value.dtype is not torch.float64


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if _is_narrowable(value):
        return value if value.dtype is dtype else _kept(value, dtype)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], torch.Tensor):
        return [_cast(part, dtype) for part in value]
    return value


def _kept(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    is_weight = dtype is not torch.float32 and value.is_leaf and value.requires_grad and torch.is_autocast_cache_enabled()
    if not is_weight:
        return value.to(dtype)
    found = _casts.get(id(value))
    if found is None or found[1].dtype is not dtype:
        found = _casts[id(value)] = (value, value.to(dtype))
    return found[1]


def _lower(args: Any) -> torch.dtype:
    return torch.get_autocast_dtype("npu")


def _wider(args: Any) -> torch.dtype:
    return torch.float32


def _widest(args: Any) -> torch.dtype:
    parts = [part for value in args for part in (value if isinstance(value, (list, tuple)) else (value,))]
    types = [part.dtype for part in parts if _is_narrowable(part)]
    return torch.float32 if torch.float32 in types or not types else types[0]


def _kernel(operator: Callable[..., Any], choose: Callable[[Any], torch.dtype], *args: Any, **kwargs: Any) -> Any:
    with torch._C._ExcludeDispatchKeyGuard(_OWN):
        dtype = choose(args)
        return operator(*[_cast(value, dtype) for value in args], **{name: _cast(value, dtype) for name, value in kwargs.items()})


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. Combine the sigmoid before the"
        " loss with it: torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss are safe"
    )


def _operator(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def _forget() -> None:
    _casts.clear()
    _clear_of_torch()


_clear_of_torch = torch.clear_autocast_cache


def install() -> None:
    """Register the casts; all other operators pass."""
    for names, choose in ((LOWER, _lower), (WIDER, _wider), (PROMOTED, _widest)):
        for name in names:
            _aten.impl(name, partial(_kernel, _operator(name), choose), "AutocastPrivateUse1")
    _aten.impl(REFUSED, _refuse, "AutocastPrivateUse1")
    _others.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    torch.clear_autocast_cache = _forget
