"""Names that torch.cuda has and the NPU has not: one line that says what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from ..npu import unsimulated

_SMI = "look at the devices with `npu-smi info` beside the script"
_LIBRARY = "leave it out: it is an interface of CUDA's own libraries"

ADVICE: Mapping[str, str] = {
    **unsimulated.ADVICE,
    **dict.fromkeys(("CUDAGraph", "graphs"), unsimulated.ADVICE["NPUGraph"]),
    **dict.fromkeys(("CUDAPluggableAllocator", "caching_allocator_enable"), unsimulated.ADVICE["MemPool"]),
    **dict.fromkeys(("clock_rate", "list_gpu_processes", "power_draw", "temperature"), _SMI),
    **dict.fromkeys(("CudaError", "GreenContext", "check_error", "cudaStatus", "current_solver_handle", "gds"), _LIBRARY),
    "cudart": "leave it out, or take torch_npu.profiler where it starts a profile",
    "device_memory_used": "use torch.npu.mem_get_info",
    "jiterator": "write the function with operators of PyTorch",
    "nccl": 'use torch.distributed with the backend "hccl"',
    "profiler": "use torch_npu.profiler",
    "tunable": "leave it out: `tf2npu predict` says which operators take the time",
}
"""Name in torch.cuda -> what to do."""

WHOLE_MODULES: Mapping[str, str] = {name: ADVICE[name] for name in ("comm", "graphs", "nccl", "nvtx", "profiler")}
"""Modules below torch.cuda of which nothing is there."""


class Refused:
    """Stands for a function, a class or a module. Whoever uses it gets RuntimeError; to name it does no harm."""

    def __init__(self, name: str, advice: str) -> None:
        self.__dict__.update(_name=name, _advice=advice)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{self._name} is not on the simulated NPU: {self._advice}")

    __call__ = __enter__ = __getitem__ = __mro_entries__ = __setattr__ = _refuse

    def __exit__(self, *error: object) -> None:
        """Never reached."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Refused(f"{self._name}.{name}", self._advice)

    def __instancecheck__(self, value: Any) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<{self._name}: not on the NPU>"
