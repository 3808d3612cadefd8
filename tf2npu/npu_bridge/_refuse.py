"""How the shim says that it cannot do what was asked."""

from __future__ import annotations

from typing import NoReturn


class UnsupportedOnSimulator(RuntimeError):
    """A call that works on an Ascend host and has no counterpart on the simulated device."""


def refuse(call: str, reason: str) -> NoReturn:
    """Raise an error that names the call, why it cannot be done, and what to do instead."""
    raise UnsupportedOnSimulator(f"{call}: {reason}")
