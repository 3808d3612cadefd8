"""Updates of the weights shared out among the workers: each updates a part of the variables, and broadcasts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import tensorflow as tf
from npu_device.distribute.hccl import broadcast
from npu_device.npu_device import global_npu_ctx


def owners(sizes: Sequence[int], n_workers: int) -> list[int]:
    """The worker of each variable, in runs of about equal size, each worker with one at least.

    sizes: of the variables, in bytes.  Raises: ValueError for more workers than variables.
    """
    if n_workers > len(sizes):
        raise ValueError(f"there are {n_workers} workers and {len(sizes)} variables: each worker needs a variable of its own")
    middles = [end - size / 2 for end, size in zip(accumulate(sizes), sizes, strict=True)]
    total = max(sum(sizes), 1)
    found: list[int] = []
    for place, middle in enumerate(middles):
        least = found[-1] if found else 0
        must = n_workers - (len(sizes) - place)  # so that enough variables are left for the workers behind
        most = found[-1] + 1 if found else 0
        found.append(min(max(int(middle * n_workers / total), least, must), most))
    return found


def _owners(variables: Sequence[tf.Variable], n_workers: int) -> list[int]:
    return owners([int(np.prod(variable.shape)) * variable.dtype.size for variable in variables], n_workers)


def grouping_gradients_apply(
    apply_func: Callable[..., Any], grads_and_vars: Iterable[tuple[Any, tf.Variable]], *args: Any, **kwargs: Any
) -> Any:
    """Apply on this worker the gradients of its variables alone, then give all workers the variables of each.

    With one worker it applies all of them.  Returns: what `apply_func` does.
    Raises: ValueError for more workers than variables.
    """
    device, pairs = global_npu_ctx(), list(grads_and_vars)
    if device is None or not device.is_cluster_worker():
        return apply_func(pairs, *args, **kwargs)
    variables = [variable for _, variable in pairs]
    by_variable = _owners(variables, device.workers_num)
    own = [pair for pair, owner in zip(pairs, by_variable, strict=True) if owner == device.worker_id]
    done = apply_func(own, *args, **kwargs)
    _broadcast(variables, by_variable)
    return done


def grouping_broadcast(variables: Sequence[tf.Variable]) -> Sequence[tf.Variable] | None:
    """Give all workers each variable of the worker that it belongs to; with one worker the variables come back.

    Raises: ValueError for more workers than variables.
    """
    device = global_npu_ctx()
    if device is None or not device.is_cluster_worker():
        return variables
    _broadcast(variables, _owners(variables, device.workers_num))
    return None


def _broadcast(variables: Sequence[tf.Variable], by_variable: Sequence[int]) -> None:
    for variable, owner in zip(variables, by_variable, strict=True):
        broadcast([variable], owner, 0)
