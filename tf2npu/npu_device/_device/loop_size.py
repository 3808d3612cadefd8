"""NPU_LOOP_SIZE: the turns that one call of a training loop makes on a real device."""

from __future__ import annotations

import os
from collections.abc import Mapping

from npu_device._log import once

from npu_formats.whole_number import whole_number

VARIABLE = "NPU_LOOP_SIZE"


def _of_environment(environment: Mapping[str, str]) -> int:
    """The number in the environment, 1 where it has none."""
    text = environment.get(VARIABLE)
    number = whole_number(text) if text else 1
    if number is None or number < 1:
        once(f"{VARIABLE}={text!r:.60} is no number from 1 on: 1 is taken")
        return 1
    return number


size = _of_environment(os.environ)
"""The number that a real device would use now. Here loops make the turns that the script asks for."""


def set_size(loop_size: int) -> None:
    """Set the number of turns.  Raises: TypeError for what is no int, ValueError below 1."""
    global size
    if not isinstance(loop_size, int) or isinstance(loop_size, bool):
        raise TypeError(f"loop_size must be an int, got {loop_size!r}")
    if loop_size < 1:
        raise ValueError(f"loop_size must be 1 or more, got {loop_size}")
    size = loop_size


def say() -> None:
    """Say once that the number is recorded only, where it is one that matters."""
    if size != 1:
        once(f"{VARIABLE} is {size}: recorded; here a loop makes the turns that the script asks for, a real device makes {size}")
