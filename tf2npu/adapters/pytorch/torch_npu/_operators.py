"""Operators of torch_npu that PyTorch has not, with PyTorch's own; numbers are those of the CPU.

Sources: the vendor's operator declarations and tests in Ascend/pytorch (names, arguments and results of each).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

_FORMATS = {4: 0, 5: 30}
"""Numbers of the formats NCHW and NCDHW by dimensions; all others are ND, 2. Source: GuessBaseFormat in torch_npu."""


def npu_format_cast(input: torch.Tensor, acl_format: Any) -> torch.Tensor:
    """The tensor in a format of the chip: the same numbers.  acl_format: the format's number, or a tensor that has it."""
    return input.clone()


def npu_format_cast_(input: torch.Tensor, acl_format: Any) -> torch.Tensor:
    """As npu_format_cast, in place."""
    return input


def get_npu_format(input: torch.Tensor) -> int:
    """The format of a tensor: that of PyTorch, as the chip's own are not simulated."""
    return _FORMATS.get(input.dim(), 2)


def npu_dtype_cast(input: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor in another type, with its gradient."""
    return input.to(dtype)


def npu_gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """GELU, as torch.nn.functional has it."""
    return functional.gelu(input, approximate=approximate)


def fast_gelu(input: torch.Tensor) -> torch.Tensor:
    """The fast GELU of the chip: x * sigmoid(1.702 * |x|) * exp(0.851 * (x - |x|)), which is x * sigmoid(1.702 * x)."""
    return input * torch.sigmoid(1.702 * input)


def npu_silu(input: torch.Tensor) -> torch.Tensor:
    """SiLU, as torch.nn.functional has it."""
    return functional.silu(input)


def npu_mish(input: torch.Tensor) -> torch.Tensor:
    """Mish, as torch.nn.functional has it."""
    return functional.mish(input)


def npu_swiglu(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """silu(a) * b of the two halves a and b of a tensor along a dimension."""
    first, second = input.chunk(2, dim)
    return functional.silu(first) * second


def npu_rms_norm(self: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> tuple[torch.Tensor, torch.Tensor]:
    """A tensor divided by the root mean square over the dimensions of gamma, times gamma.

    Returns: the result, and the reciprocal roots in float32 with dimensions of size 1.
    """
    wide = self.float()
    dims = tuple(range(-gamma.dim(), 0))
    reciprocal = torch.rsqrt(wide.pow(2).mean(dims, keepdim=True) + epsilon)
    return (wide * reciprocal).to(self.dtype) * gamma, reciprocal


def npu_rotary_mul(input: torch.Tensor, r1: torch.Tensor, r2: torch.Tensor, rotary_mode: str = "half") -> torch.Tensor:
    """Rotary position embedding: input * r1 + rotated(input) * r2.

    r1, r2: cosines and sines, broadcast to input.  rotary_mode: "half" turns the two halves of the last dimension,
    "interleave" neighbours.  Raises: ValueError for another mode.
    """
    if rotary_mode == "half":
        first, second = input.chunk(2, -1)
        rotated = torch.cat((-second, first), -1)
    elif rotary_mode == "interleave":
        rotated = torch.stack((-input[..., 1::2], input[..., ::2]), -1).flatten(-2)
    else:
        raise ValueError(f'rotary_mode is "half" or "interleave", and not {rotary_mode!r}')
    return input * r1 + rotated * r2


def npu_fusion_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, head_num: int, input_layout: str, pse: Any = None,
    padding_mask: Any = None, atten_mask: torch.Tensor | None = None, scale: float = 1.0, keep_prob: float = 1.0, *options: Any,
    sparse_mode: int = 0, **more: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Attention with the layouts BSH, SBH, BSND and BNSD (batch, sequence, heads, width; H is heads times width).

    atten_mask: True where nothing may be looked at.  scale: factor of the products.  keep_prob: of the dropout.
    Returns: the result in the layout of query; then what only the vendor's backward uses, as None, None, None, 0, 0, 0.
    Raises: RuntimeError for what is not simulated: pse, padding_mask, sparse modes but 0 and 1, other layouts.
    """
    if pse is not None or padding_mask is not None or sparse_mode not in (0, 1) or input_layout not in _TO_HEADS:
        raise RuntimeError(
            f"torch_npu.npu_fusion_attention is simulated without pse and padding_mask, with sparse_mode 0 or 1 and the layouts "
            f"{', '.join(_TO_HEADS)}: use torch.nn.functional.scaled_dot_product_attention for this call"
        )
    width = query.shape[-1] // head_num
    heads = [_TO_HEADS[input_layout](part, width) for part in (query, key, value)]
    mask = None if atten_mask is None else ~atten_mask.bool()
    out = functional.scaled_dot_product_attention(
        *heads, attn_mask=mask, dropout_p=1.0 - keep_prob, scale=scale, enable_gqa=heads[0].shape[1] != heads[1].shape[1]
    )
    return _FROM_HEADS[input_layout](out), None, None, None, 0, 0, 0


_TO_HEADS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "BNSD": lambda tensor, width: tensor,
    "BSND": lambda tensor, width: tensor.transpose(1, 2),
    "BSH": lambda tensor, width: tensor.unflatten(-1, (-1, width)).transpose(1, 2),
    "SBH": lambda tensor, width: tensor.unflatten(-1, (-1, width)).permute(1, 2, 0, 3),
}
_FROM_HEADS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "BNSD": lambda tensor: tensor,
    "BSND": lambda tensor: tensor.transpose(1, 2),
    "BSH": lambda tensor: tensor.transpose(1, 2).flatten(2),
    "SBH": lambda tensor: tensor.permute(2, 0, 1, 3).flatten(2),
}
