"""memory_record.csv: the bytes that live tensors of PyTorch take on the device, at each call that changes them.

The vendor's allocator rounds and keeps blocks, which is not simulated: reserved and active memory are the allocated one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from npu_runtime.observers.profiler.csv_files import table, time_cell
from npu_runtime.observers.profiler.eager.eager_profile import SINCE_BEGIN, EagerProfile

_COLUMNS = (
    "Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)", "Stream Ptr", "Device Type"
)  # fmt: skip
_PYTORCH = "PTA"
"""PyTorch's adapter among the components that take memory. Source: the vendor's guide, table 2."""
_MEGABYTE = 2**20


def memory_record(profile: EagerProfile) -> Iterator[str]:
    """The table line by line: a call's bytes are those behind it."""
    return table(_COLUMNS, _rows(profile))


def _rows(profile: EagerProfile) -> Iterator[Sequence[Any]]:
    device, before = f"NPU:{profile.log.run.device_id}", None
    for operator in profile.operators:
        n_bytes = operator.n_bytes
        if n_bytes is not None and n_bytes != before:
            megabytes = round(n_bytes / _MEGABYTE, 6)
            yield _PYTORCH, time_cell(SINCE_BEGIN, operator.start), megabytes, megabytes, megabytes, "", device
            before = n_bytes
