"""The same computation on the CPU and on the simulated device, at one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten


def on_host(value: Any) -> list[Any]:
    """The parts of a result, flat: tensors on the host, anything else as it is."""
    parts, _ = tree_flatten(value)
    return [part.detach().cpu() if isinstance(part, torch.Tensor) else part for part in parts]


def check(compute: Callable[[str], Any], device: str = "npu:0", within: float = 0) -> None:
    """Raises: AssertionError where the device gives another number, shape or type than the CPU, or a tensor of no device.

    compute: takes the device's name; random numbers are drawn from the same seed on both.  within: how far numbers may differ.
    """
    torch.manual_seed(0)
    expected = on_host(compute("cpu"))
    torch.manual_seed(0)
    made = compute(device)
    for part in tree_flatten(made)[0]:
        if isinstance(part, torch.Tensor):
            assert part.device.type in ("cpu", "npu"), f"a tensor of {part.device}"
    found = on_host(made)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, torch.Tensor):
            torch.testing.assert_close(one, other, rtol=within, atol=within, equal_nan=True)
        else:
            assert one == other
