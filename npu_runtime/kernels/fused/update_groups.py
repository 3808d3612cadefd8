"""The updates of many small variables by one optimizer, computed on one array: the calls of numpy cost more than the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from npu_runtime.cost.work import n_elements
from npu_runtime.device.variable import Variable
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.training.apply_update import DENSE, Dense

APPLY_GROUP = "_ApplyGroup"


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Flops as the single nodes count."""
    gradients = inputs[len(inputs) - attrs["count"] :]
    return DENSE[attrs["update"]].flops * sum(n_elements(spec) for spec in gradients)


@kernel(APPLY_GROUP, unit="vector", shape=variable_access.no_outputs, estimate=_flops, dtypes=frozenset({"float32"}))
def apply_group(*inputs: Any, update: str, settings: Mapping[str, Any], count: int) -> tuple[()]:
    """The op `update` with these attributes, for `count` resource variables of fp32 with gradients and slots of their own.

    inputs: all variables, then the first slot of each, and so on; the scalars of the op, which are the same for all; the
    gradients.  Raises: as the op, before any variable has changed.
    """
    one = DENSE[update]
    n_handed = one.layout.n_variables * count
    variables, scalars, gradients = inputs[:n_handed], list(inputs[n_handed:-count]), inputs[-count:]
    shapes = [gradient.shape for gradient in gradients] * one.layout.n_variables
    if [variable.shape for variable in variables] != shapes or not all(variable.is_initialized for variable in variables):
        _check(one, variables, scalars, gradients, settings)
    one.layout.check_scalars(scalars, settings)
    arrays = [variable.writable().reshape(-1) for variable in variables]
    ends = list(accumulate([gradient.size for gradient in gradients], initial=0))
    joined = [_joined(place, arrays[place : place + count], ends[-1]) for place in range(0, n_handed, count)]
    arguments = [*joined, *scalars]
    arguments.insert(one.layout.grad, _joined(-1, [gradient.reshape(-1) for gradient in gradients], ends[-1]))
    one.formula(*arguments, **settings)
    for place, whole in zip(range(0, n_handed, count), joined, strict=True):
        for array, (start, stop) in zip(arrays[place : place + count], pairwise(ends), strict=True):
            array[:] = whole[start:stop]
    return ()


def _joined(place: int, arrays: Sequence[np.ndarray], size: int) -> np.ndarray:
    return np.concatenate(arrays, out=scratch(f"update group {place}", (size,)))


def _check(
    one: Dense, variables: Sequence[Variable], scalars: Sequence[Any], gradients: Sequence[np.ndarray], attrs: Mapping[str, Any]
) -> None:  # fmt: skip
    """Raises: as the op does for the first variable that does not fit."""
    for number, gradient in enumerate(gradients):
        given = [*variables[number :: len(gradients)], *scalars]
        given.insert(one.layout.grad, gradient)
        one.layout.check(given, gradient.shape, attrs)
