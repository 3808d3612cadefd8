"""The options of a process group of HCCL, for pg_options of torch.distributed.init_process_group and new_group."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .._device.ranks.process_group import HcclGroup


class Options:
    """hccl_config: settings by name, such as hccl_buffer_size in MB and group_name; they have no effect here.
    Source: the vendor's documentation of init_process_group for PyTorch 2.13.
    """

    def __init__(self, is_high_priority_stream: bool = False) -> None:
        self.is_high_priority_stream = is_high_priority_stream
        self.hccl_config: dict[str, Any] = {}
        self.op_timeout = timedelta(minutes=30)
        self.global_ranks_in_group: list[int] = []


class ProcessGroupHCCL(HcclGroup):
    """A process group of HCCL, with its options."""

    Options = Options
