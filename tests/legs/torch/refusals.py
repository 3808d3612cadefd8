"""The words of refusals, for cases that tell them to the process that asked."""

from __future__ import annotations

from collections.abc import Callable


def refusal(call: Callable[[], object]) -> str:
    """The text of the RuntimeError that a call ends with."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "nothing was raised"
