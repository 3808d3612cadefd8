"""Names that torch.cuda has and the NPU has not: one line that says what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

_SMI = "look at the devices with `npu-smi info` beside the script"
_GRAPH = "torch.npu.NPUGraph is the card's; the simulated device runs operators one by one: leave the capture out"
_ALLOCATOR = "leave it out: the NPU's allocator is set by PYTORCH_NPU_ALLOC_CONF"
_LIBRARY = "leave it out: it is an interface of CUDA's own libraries"
_GROUPS = 'use torch.distributed with the backend "hccl"'

ADVICE: Mapping[str, str] = {
    "CUDAGraph": _GRAPH,
    "CUDAPluggableAllocator": _ALLOCATOR,
    "CudaError": _LIBRARY,
    "GreenContext": _LIBRARY,
    "MemPool": _ALLOCATOR,
    "caching_allocator_alloc": _ALLOCATOR,
    "caching_allocator_delete": _ALLOCATOR,
    "caching_allocator_enable": _ALLOCATOR,
    "change_current_allocator": _ALLOCATOR,
    "check_error": _LIBRARY,
    "clock_rate": _SMI,
    "comm": _GROUPS,
    "cudaStatus": _LIBRARY,
    "cudart": "leave it out, or take torch_npu.profiler where it starts a profile",
    "current_blas_handle": _LIBRARY,
    "current_solver_handle": _LIBRARY,
    "device_memory_used": "use torch.npu.mem_get_info()",
    "gds": _LIBRARY,
    "graph": _GRAPH,
    "graph_pool_handle": _GRAPH,
    "graphs": _GRAPH,
    "jiterator": "write the function with operators of PyTorch",
    "list_gpu_processes": _SMI,
    "make_graphed_callables": _GRAPH,
    "memory_snapshot": "use torch.npu.memory_stats()",
    "memory_usage": _SMI,
    "nccl": _GROUPS,
    "nvtx": "use torch.npu.mstx on the card; the simulated device has no markers",
    "power_draw": _SMI,
    "profiler": "use torch_npu.profiler",
    "set_sync_debug_mode": "leave it out: copies to the host are in the report of the run",
    "temperature": _SMI,
    "tunable": "leave it out: `tf2npu predict` says which operators take the time",
    "use_mem_pool": _ALLOCATOR,
}
"""Name in torch.cuda -> what to do."""

WHOLE_MODULES: Mapping[str, str] = {name: ADVICE[name] for name in ("comm", "graphs", "nccl", "nvtx", "profiler")}
"""Modules below torch.cuda of which nothing is there."""


class Refused:
    """Stands for a function, a class or a module. Whoever uses it gets RuntimeError; to name it does no harm."""

    def __init__(self, name: str, advice: str) -> None:
        self.__dict__.update(_name=name, _advice=advice)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{self._name} has no counterpart on the NPU: {self._advice}")

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
