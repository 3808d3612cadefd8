"""Values of variables in a session of TensorFlow: read, and set as their initialisers would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from npu_bridge._check.session_hooks import run_plain
from npu_bridge._check.step_graph import Asked, Variable
from tensorflow.python.framework import errors_impl

Set = tuple[list[str], dict[str, np.ndarray]]
"""Operations to run, and what to feed."""


def read(session: Any, variables: Sequence[Variable]) -> dict[str, np.ndarray]:
    """Values of variables by name; a variable without a value yet is left out."""
    try:
        values = run_plain(session, Asked((), (), ()), {}, [variable.reads for variable in variables])
        return {variable.name: np.array(value) for variable, value in zip(variables, values, strict=True)}
    except errors_impl.FailedPreconditionError:
        if len(variables) == 1:
            return {}
        return {name: value for variable in variables for name, value in read(session, [variable]).items()}


def assignments(variables: Sequence[Variable], values: Mapping[str, np.ndarray]) -> Iterator[Set]:
    """Runs that set variables: some share the tensor of their first value, so there may be several."""
    left = [variable for variable in variables if variable.sets and variable.name in values]
    while left:
        chosen: dict[str, Variable] = {}
        for variable in left:
            chosen.setdefault(variable.given, variable)
        yield [variable.sets for variable in chosen.values()], {given: values[one.name] for given, one in chosen.items()}
        left = [variable for variable in left if chosen[variable.given] is not variable]


def write(session: Any, variables: Sequence[Variable], values: Mapping[str, np.ndarray]) -> None:
    """Set those of the variables that have a value."""
    for targets, feeds in assignments(variables, values):
        run_plain(session, Asked((), tuple(targets), tuple(feeds)), feeds)
