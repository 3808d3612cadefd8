"""Functions that run as one graph in either mode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mindspore._device.control_flow import rewritten
from mindspore._device.program import run_traced
from mindspore._device.trace import tracing


def ms_function(fn: Callable[..., Any] | None = None, obj: Any = None, input_signature: Any = None) -> Any:
    """A function, or a method, that becomes one graph for each set of shapes and types."""
    if fn is None:
        return functools.partial(ms_function, obj=obj, input_signature=input_signature)
    is_method = next(iter(inspect.signature(fn).parameters), None) == "self"

    @functools.wraps(fn)
    def traced(*given: Any) -> Any:
        if tracing():
            return rewritten(fn)(*given)
        owner, arguments = (given[:1], given[1:]) if is_method else ((), given)
        return run_traced(("function", fn, *map(id, owner)), lambda *tensors: rewritten(fn)(*owner, *tensors), arguments)

    return traced
