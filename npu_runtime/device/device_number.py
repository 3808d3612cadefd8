"""The number of the device that this process works with."""

from __future__ import annotations

from collections.abc import Mapping


def device_number(environment: Mapping[str, str]) -> int:
    """The number of this process's device. Of the two variables it takes the one that was set: npu_bridge sets the other to 0."""
    return number_in(environment, "ASCEND_DEVICE_ID", 0) or number_in(environment, "DEVICE_ID", 0)


def number_in(environment: Mapping[str, str], name: str, otherwise: int) -> int:
    """A whole number that a variable holds."""
    text = environment.get(name, "")
    return int(text) if text.isdigit() else otherwise
