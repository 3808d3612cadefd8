"""The simulated device as PyTorch's accelerator `npu`."""

from __future__ import annotations

import sys
from types import ModuleType

import torch

from . import (
    attention,
    autocast,
    chip,
    compiled,
    construction,
    dispatch,
    factories,
    forked,
    numbering,
    recurrent,
    replaced,
    scaled_batch,
    serialization,
    tensor_types,
    transfers,
    uninitialized,
)
from .ranks import of_torch

NAME = "npu"


class _Hook(torch._C._acc.PrivateUse1Hooks):
    def is_available(self) -> bool:
        return True

    def has_primary_context(self, device: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


def install(module: ModuleType) -> None:
    """Make PyTorch know the device.  module: what becomes torch.npu."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    sys.modules["torch.npu"] = module
    _setup_privateuseone_for_python_backend(NAME, backend_module=module, hook=_Hook())
    numbering.name_devices()
    parts = (
        chip, dispatch, transfers, serialization, factories, construction, attention, autocast, recurrent, replaced, tensor_types,
        uninitialized, forked, compiled,
    )  # fmt: skip
    for part in parts:
        part.install()
    of_torch.install()
    scaled_batch.install()


def is_possible() -> bool:
    """Whether this PyTorch can have an accelerator that is written in Python."""
    from torch.utils import backend_registration

    return hasattr(backend_registration, "_setup_privateuseone_for_python_backend")
