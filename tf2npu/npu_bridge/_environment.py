"""Values for environment variables that a real Ascend host exports and migrated scripts read with int()."""

from __future__ import annotations

import os
import sys

DEFAULTS = {
    "JOB_ID": "1",
    "RANK_ID": "0",
    "RANK_SIZE": "1",
    "DEVICE_ID": "0",
    "ASCEND_DEVICE_ID": "0",
    "DEVICE_INDEX": "0",
}

_DEVICE = ("ASCEND_DEVICE_ID", "DEVICE_ID", "DEVICE_INDEX")
"""Variables that name the device of this process. Where a launcher sets one, the others get the same value."""

was_set: set[str] = set()
"""Variables that were absent and have been set here. Calls that need one on an NPU host report it."""


def set_defaults() -> list[str]:
    """Set what is absent and say so in one line on standard error; the names that were set."""
    absent = [name for name in DEFAULTS if name not in os.environ]
    if "CM_WORKER_SIZE" in os.environ and "RANK_SIZE" in absent:
        absent.remove("RANK_SIZE")  # both together are an error
    device = next((os.environ[name] for name in _DEVICE if name in os.environ), DEFAULTS[_DEVICE[0]])
    values = {name: device if name in _DEVICE else DEFAULTS[name] for name in absent}
    os.environ.update(values)
    was_set.update(values)
    if absent:
        said = " ".join(f"{name}={value}" for name, value in values.items())
        print(f"npu_bridge: set {said}; a real Ascend host needs them exported", file=sys.stderr)
    return absent
