"""The chip that a run simulates."""

from __future__ import annotations

import os
from functools import cache

from npu_formats.device.chip import DEFAULT_CHIP, Chip, load_chip
from npu_formats.session_options import launcher_options

from .memory import POOLS


@cache
def chip_of_run() -> Chip:
    """The chip that `tf2npu run --soc` names."""
    return load_chip(str(launcher_options(os.environ).get("soc") or DEFAULT_CHIP))


def install() -> None:
    """Give each device the memory of the chip."""
    for pool in POOLS:
        pool.total = pool.limit = chip_of_run().hbm_bytes
