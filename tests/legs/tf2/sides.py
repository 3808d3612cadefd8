"""The two sides of a comparison, in a process: the script as it is on TensorFlow, and behind the lines that open the device."""

from __future__ import annotations

import os

PLAIN, DEVICE = "plain", "npu"
SIDES = (PLAIN, DEVICE)
POISON = "TF2NPU_TF2_POISON"
"""The environment variable with which TensorFlow's copies of variables of the device are filled with NaN behind each program."""


def begin(side: str) -> None:
    """Does what a migrated script does in its first lines."""
    if side == DEVICE:
        import npu_device as npu

        npu.open().as_default()
        if os.environ.get(POISON):
            from npu_device._execution import residency

            residency.poison_copies()


def copies(side: str) -> dict[str, int]:
    """The variables that were copied to the device ("up") and back ("down") so far; empty on TensorFlow."""
    if side == PLAIN:
        return {}
    from npu_device._execution import residency

    return residency.counters()
