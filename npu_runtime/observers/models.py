"""The models that this process has loaded: each program with the name that its dump folder and its graph file share."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True)
class Model:
    """One program on the device.  name: ge_default_{YYYYMMDDHHMMSS}_{number}.  number: in the process, from 1."""

    name: str
    number: int


_NUMBERS = count(1)


def load_model() -> Model:
    """The next model of this process, named after the local time."""
    number = next(_NUMBERS)
    return Model(f"ge_default_{time.strftime('%Y%m%d%H%M%S')}_{number}", number)
