"""The five operators of SyncBatchNorm, for which PyTorch's CPU has no kernels.

Statistics are summed in float64, so that those of the ranks' parts come together as those of the whole batch. Source of what each
gives: PyTorch's native_functions.yaml, and how torch/nn/modules/_functions.py calls them.
"""

from __future__ import annotations

from typing import Any

import torch

_library = torch.library.Library("aten", "IMPL")  # kernels live as long as this
_Pair = tuple[torch.Tensor, torch.Tensor]


def _dimensions(input: torch.Tensor) -> list[int]:
    """All but that of the channels."""
    return [0, *range(2, input.dim())]


def _spread(values: torch.Tensor, input: torch.Tensor) -> torch.Tensor:
    """A value for each channel, so that it meets the input's."""
    return values.double().view(1, -1, *[1] * (input.dim() - 2))


def _kept(values: torch.Tensor, input: torch.Tensor) -> torch.Tensor:
    """Statistics in the type that they have: float32, float64 for inputs of that."""
    return values.to(torch.float64 if input.dtype is torch.float64 else torch.float32)


def stats(input: torch.Tensor, eps: float) -> _Pair:
    """The mean of each channel, and one by the standard deviation."""
    whole = input.double()
    mean, variance = whole.mean(_dimensions(input)), whole.var(_dimensions(input), correction=0)
    return _kept(mean, input), _kept((variance + eps).rsqrt(), input)


def gather_stats_with_counts(
    input: torch.Tensor, mean: torch.Tensor, invstd: torch.Tensor, running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None, momentum: float, eps: float, counts: torch.Tensor,
) -> _Pair:  # fmt: skip
    """The statistics of all ranks from those of each.  mean, invstd: (ranks, channels).  counts: (ranks,)."""
    share = counts.double().view(-1, 1) / counts.double().sum()
    variances = invstd.double().pow(-2) - eps
    middle = (share * mean).sum(0)
    variance = (share * (variances + (mean - middle).square())).sum(0)
    if running_mean is not None:
        running_mean.lerp_(middle.to(running_mean.dtype), momentum)
    if running_var is not None:
        size = counts.double().sum()
        running_var.lerp_((variance * size / (size - 1)).to(running_var.dtype), momentum)
    return _kept(middle, input), _kept((variance + eps).rsqrt(), input)


def elemt(
    input: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, mean: torch.Tensor, invstd: torch.Tensor,
    eps: float,
) -> torch.Tensor:  # fmt: skip
    """The normalised input."""
    made = (input.double() - _spread(mean, input)) * _spread(invstd, input)
    if weight is not None:
        made = made * _spread(weight, input)
    if bias is not None:
        made = made + _spread(bias, input)
    return made.to(input.dtype)


def backward_reduce(
    grad_out: torch.Tensor, input: torch.Tensor, mean: torch.Tensor, invstd: torch.Tensor, weight: torch.Tensor | None,
    input_g: bool, weight_g: bool, bias_g: bool,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The sums over this rank's part that the gradients are made of, and the gradients of weight and bias."""
    gradient = grad_out.double()
    total = gradient.sum(_dimensions(input))
    about_mean = (gradient * (input.double() - _spread(mean, input))).sum(_dimensions(input))
    parts = (total, about_mean, about_mean * invstd.double(), total)
    return tuple(_kept(part, input) for part in parts)


def backward_elemt(
    grad_out: torch.Tensor, input: torch.Tensor, mean: torch.Tensor, invstd: torch.Tensor, weight: torch.Tensor | None,
    sum_dy: torch.Tensor, sum_dy_xmu: torch.Tensor, count: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    """The gradient of the input from the sums of all ranks."""
    size, deviation = count.double().sum(), _spread(invstd, input)
    slope = _spread(sum_dy_xmu / size, input) * deviation.square()
    made = grad_out.double() - _spread(sum_dy / size, input) - (input.double() - _spread(mean, input)) * slope
    made = made * deviation
    return (made if weight is None else made * _spread(weight, input)).to(input.dtype)


def install() -> None:
    """Register the kernels for tensors of the hosts, and for those without numbers."""
    kernels: dict[str, Any] = {
        "batch_norm_stats": stats, "batch_norm_gather_stats_with_counts": gather_stats_with_counts, "batch_norm_elemt": elemt,
        "batch_norm_backward_reduce": backward_reduce, "batch_norm_backward_elemt": backward_elemt,
    }  # fmt: skip
    for name, kernel in kernels.items():
        for key in ("CPU", "Meta"):
            _library.impl(name, kernel, key)
