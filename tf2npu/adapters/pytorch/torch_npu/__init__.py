"""The vendor's package `torch_npu` on a machine without an NPU: PyTorch with simulated devices npu:0 to npu:7.

Numbers are those of PyTorch's CPU kernels; interface, limits, memory and time are the device's.
"""

from __future__ import annotations

import os
from typing import Any

import torch

from ._device import backend

if not backend.is_possible():
    raise ImportError(
        f"the simulated NPU needs a PyTorch whose accelerators can be written in Python; this is {torch.__version__}: "
        'install tf2npu with its extra, pip install "tf2npu[torch]"'
    )

from . import npu
from ._observers import checked_steps, prediction, profiling, run_summary

backend.install(npu)
torch.npu = npu
run_summary.begin()
prediction.begin()
profiling.begin()
checked_steps.begin()

from . import _C, contrib, distributed, profiler  # noqa: E402, F401
from ._operators import (  # noqa: E402, F401
    fast_gelu,
    get_npu_format,
    npu_dtype_cast,
    npu_format_cast,
    npu_format_cast_,
    npu_fusion_attention,
    npu_gelu,
    npu_mish,
    npu_rms_norm,
    npu_rotary_mul,
    npu_silu,
    npu_swiglu,
)

__version__ = f"{torch.__version__.partition('+')[0]}+tf2npu"


def __getattr__(name: str) -> Any:
    if name.startswith("npu_") or name in ("optim", "utils"):
        raise AttributeError(
            f"torch_npu.{name} is not simulated: use an operator of PyTorch's for it here, and the vendor's on the card"
        )
    raise AttributeError(f"module 'torch_npu' has no attribute '{name}'")


def _autoload() -> None:
    """PyTorch calls this at the end of `import torch`. Source: the vendor's environment variable TORCH_TRANSFER_TO_NPU."""
    if os.environ.get("TORCH_TRANSFER_TO_NPU") == "1":
        from .contrib import transfer_to_npu  # noqa: F401
