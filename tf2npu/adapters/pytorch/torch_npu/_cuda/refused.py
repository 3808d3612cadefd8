"""Names that torch.cuda has and the NPU has not: one line that says what to write instead."""

from __future__ import annotations

from typing import Any, NoReturn

from npu_formats.pytorch.cuda_names import cuda_names

from ..npu import unsimulated

_LISTED = (
    "CudaError", "GreenContext", "check_error", "clock_rate", "cudaStatus", "cudart", "current_solver_handle",
    "device_memory_used", "gds", "jiterator", "list_gpu_processes", "nccl", "power_draw", "profiler", "temperature", "tunable",
)  # fmt: skip
"""Names that are refused with the words that a converted script's reader gets. PyTorch's own are kept for the others."""

ADVICE: dict[str, str] = {
    **unsimulated.ADVICE,
    **dict.fromkeys(("CUDAGraph", "graphs"), unsimulated.ADVICE["NPUGraph"]),
    **dict.fromkeys(("CUDAPluggableAllocator", "caching_allocator_enable"), unsimulated.ADVICE["MemPool"]),
    **{name: cuda_names()[f"torch.cuda.{name}"].advice for name in _LISTED},
}
"""Name in torch.cuda -> what to do."""

WHOLE_MODULES: dict[str, str] = {name: ADVICE[name] for name in ("comm", "graphs", "nccl", "nvtx", "profiler")}
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
