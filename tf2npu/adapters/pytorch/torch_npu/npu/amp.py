"""torch.npu.amp: mixed precision for NPUs, by PyTorch's own classes."""

from __future__ import annotations

from typing import Any

import torch
from torch.amp.grad_scaler import OptState


class autocast(torch.amp.autocast):
    """torch.autocast with the device npu."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        super().__init__("npu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """torch.amp.GradScaler with the device npu.  dynamic: as the vendor has it, False for a scale that never changes."""

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        dynamic: bool = True, enabled: bool = True,
    ) -> None:  # fmt: skip
        if not dynamic:
            growth_factor, backoff_factor, growth_interval = 1.0 + 2.0**-20, 1.0 - 2.0**-20, 2**31 - 1
        super().__init__("npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divides the gradients of an optimizer by the scale, once a step.

        The reciprocal of the scale is in float32, as in the vendor's class. PyTorch's is in float64, which the chip refuses.
        """
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found_inf = torch.zeros((), dtype=torch.float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, scale.float().reciprocal(), found_inf, False)
        state["stage"] = OptState.UNSCALED


def custom_fwd(function: Any = None, *, cast_inputs: torch.dtype | None = None) -> Any:
    """torch.amp.custom_fwd with the device npu."""
    return torch.amp.custom_fwd(function, device_type="npu", cast_inputs=cast_inputs)


def custom_bwd(function: Any = None) -> Any:
    """torch.amp.custom_bwd with the device npu."""
    return torch.amp.custom_bwd(function, device_type="npu")


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
