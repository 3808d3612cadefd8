"""Chips and numbers of devices as the options of `tf2npu predict` name them."""

from __future__ import annotations

import re

from npu_formats.near_names import near_names

MOST_PROCESSES = 8
"""Ranks that a prediction starts at most, those of one server: each is a process with TensorFlow in it."""
MOST_DEVICES = 65_536
"""Devices that a scaling may be asked for: eight times the largest cluster of these chips that was announced, of 8192."""
CHIP_OF_NAME = {"910": "Ascend910A", "910a": "Ascend910A"}
"""The chip that a bare "Ascend 910" is. Source: the vendor's list of products, where the 910 of 2019 is the A."""


def processes_for(devices: tuple[int, ...]) -> int:
    """The number of ranks that run for a prediction of these numbers of devices.

    One number of up to a server runs as it is, as a script may share its batch out; for more, two ranks tell all that is asked.
    """
    return devices[0] if len(devices) == 1 and devices[0] <= MOST_PROCESSES else min(2, max(devices))


def devices_named(text: str) -> tuple[int, ...]:
    """The numbers of devices in a comma-separated list, each once, ascending.

    Raises: ValueError for a list with something else in it, and for an empty one.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    wrong = [part for part in parts if not (part.isascii() and part.isdecimal() and 1 <= int(part[:9]) <= MOST_DEVICES)]
    if wrong or not parts:
        named = f"{wrong[0]!r:.40} is no number of devices" if wrong else "names no number of devices"
        raise ValueError(f"{named}: write numbers from 1 to {MOST_DEVICES} with commas between, such as 8,16,512")
    return tuple(sorted(set(map(int, parts))))


def chips_named(text: str, known: list[str]) -> tuple[str, ...]:
    """The chips that a comma-separated list names, in whatever case and spacing.

    Raises: ValueError, which says what is known, for a name of no chip and for an empty list.
    """
    names = tuple(dict.fromkeys(_chip(part, known) for part in text.split(",") if part.strip()))
    if not names:
        raise ValueError(f"names no chip; known are {', '.join(known)}")
    return names


def _chip(name: str, known: list[str]) -> str:
    short = re.sub(r"[\s_-]+", "", name).lower().removeprefix("ascend")
    if short in CHIP_OF_NAME:
        return CHIP_OF_NAME[short]
    chips = {chip.lower().removeprefix("ascend"): chip for chip in known}
    if short in chips:
        return chips[short]
    near = near_names(short, chips, 1)
    hint = f"did you mean {chips[near[0]]}?" if near else f"known are {', '.join(known)}"
    raise ValueError(f"no chip is called {name.strip()!r}; {hint}")
