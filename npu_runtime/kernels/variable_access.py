"""Access to the value of a variable: TensorFlow's errors for a missing one, shapes as its messages print them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from npu_runtime.device.variable import Variable
from npu_runtime.errors import FailedPrecondition, NotFound
from npu_runtime.graph.spec import Shape, Spec


def shape_text(shape: Iterable[Any]) -> str:
    """A shape as TensorFlow's messages print it: [2,3]."""
    return f"[{','.join('?' if n is None else str(n) for n in shape)}]"


def no_outputs(*specs: Spec, **attrs: Any) -> list[Shape]:
    """The shapes of an op without outputs."""
    return []


def snapshot(variable: Variable) -> np.ndarray:
    """The value for a reader.

    Raises: FailedPrecondition when there is none.  Source: TensorFlow's executor (ref edges) and `ReadVariableOp`.
    """
    if variable.is_initialized or variable.is_ref:
        return variable.read()
    raise FailedPrecondition(
        f"Could not find variable {variable.name}. This could mean that the variable has been deleted. In TF1, it can also mean "
        f"the variable is uninitialized. Debug info: container=localhost, status error message={absent(variable)}"
    )


def value(variable: Variable) -> np.ndarray:
    """The value for an op that looks the variable up.

    Raises: FailedPrecondition (ref) or NotFound (resource) when there is none.
    """
    require(variable)
    return variable.read()


def require(*variables: Variable) -> None:
    for variable in variables:
        if not variable.is_initialized and not variable.is_ref:
            raise NotFound(absent(variable))
        variable.read()


def absent(variable: Variable) -> str:
    """TensorFlow's sentence on a resource that is not there."""
    if not variable.container.is_used:
        return f"Container localhost does not exist. (Could not find resource: localhost/{variable.name})"
    return f"Resource localhost/{variable.name}/N10tensorflow3VarE does not exist."


def result(variable: Variable) -> Variable | tuple[()]:
    """The outputs of an updating op: its ref, or nothing for a resource."""
    return variable if variable.is_ref else ()
