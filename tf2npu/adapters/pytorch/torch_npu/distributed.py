"""torch_npu.distributed: questions about HCCL."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist


def is_available() -> bool:
    """Whether PyTorch is built with torch.distributed."""
    return dist.is_available()


def is_hccl_available() -> bool:
    """Whether there is the backend hccl."""
    return dist.is_available()


def reinit_process_group(group: Any = None, rebuild_link: bool = True) -> None:
    """Nothing has to be mended: there are no links of devices here."""


__all__ = ["is_available", "is_hccl_available", "reinit_process_group"]
