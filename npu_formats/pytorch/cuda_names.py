"""Names of PyTorch that are CUDA's, each with its name for the NPU or with what a person writes.

`lists/cuda_names.csv` is kept by hand. Its sources: the vendor's pages of torch.cuda, torch.amp, torch.backends and
torch.profiler for PyTorch 2.13 for the documented names, `__all__` of torch_npu/npu for others, and PyTorch 2.13 for names that
the NPU has not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from npu_formats.pytorch.limit_facts import rows_of


@dataclass(frozen=True)
class CudaName:
    """A name that is CUDA's, and what takes its place.

    name: as `torch.cuda.synchronize`.  kind: module, class, function, member or constant.  npu: the name for the NPU, as
    `torch.npu.synchronize`, or "" where there is none.  is_documented: whether the vendor's pages name it.  advice: what a
    person writes; with a name for the NPU, what to know about it.
    """

    name: str
    kind: str
    npu: str
    is_documented: bool
    advice: str


@cache
def cuda_names() -> Mapping[str, CudaName]:
    """The list by names."""
    return {row["name"]: _cuda_name(row) for row in rows_of("cuda_names.csv")}


def _cuda_name(row: Mapping[str, str]) -> CudaName:
    return CudaName(row["name"], row["kind"], row["npu"], row["documented"] == "yes", row["advice"])
