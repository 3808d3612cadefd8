"""The vendor's package `torch_npu` on a machine without an NPU: PyTorch with simulated devices npu:0 to npu:7.

Numbers are those of PyTorch's CPU kernels; interface, limits, memory and time are the device's.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_is_loaded = False
_imports_torch = "torch" not in sys.modules


def _autoload() -> None:
    """PyTorch calls this at the end of `import torch`, too early where that import is the one below, behind which we call it.

    Source of the variable: the vendor's TORCH_TRANSFER_TO_NPU.
    """
    if _is_loaded and os.environ.get("TORCH_TRANSFER_TO_NPU") == "1":
        from .contrib import transfer_to_npu  # noqa: F401


import torch  # noqa: E402

from ._device import backend  # noqa: E402

if not backend.is_possible():
    raise ImportError(
        f"the simulated NPU needs a PyTorch whose accelerators can be written in Python; this is {torch.__version__}: "
        'install tf2npu with its extra, pip install "tf2npu[torch]"'
    )

from . import npu  # noqa: E402
from ._observers import checked_steps, prediction, profiling, run_summary  # noqa: E402

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


_is_loaded = True
if _imports_torch:
    _autoload()
