"""The settings of parallel work as cells ask for them; public models import these names."""

from __future__ import annotations

import sys

from mindspore import context
from mindspore.common.seed import get_seed
from mindspore.communication._ranks import group_size, rank

DATA_PARALLEL_MODES = ("data_parallel", "hybrid_parallel")


def _get_parallel_mode() -> str:
    """The mode."""
    return str(context.get_auto_parallel_context("parallel_mode"))


def _get_device_num() -> int:
    """The number of devices: 1 where each stands alone, else as it was set, else that of the ranks."""
    if _get_parallel_mode() == context.ParallelMode.STAND_ALONE:
        return 1
    given = context.get_auto_parallel_context("device_num")
    return int(given) if given != 1 else group_size()


def _get_global_rank() -> int:
    """The number of this rank."""
    return 0 if _get_parallel_mode() == context.ParallelMode.STAND_ALONE else rank()


def _get_gradients_mean() -> bool:
    """Whether ranks average gradients; else they add them."""
    return bool(context.get_auto_parallel_context("gradients_mean"))


_get_mirror_mean = _get_gradients_mean
"""The name of r1.0."""


def _get_parameter_broadcast() -> bool:
    """Whether rank 0 gives its parameters to all before the first step.  A line on stderr says where nothing makes them equal."""
    wanted = bool(context.get_auto_parallel_context("parameter_broadcast"))
    if not wanted and _get_parallel_mode() in DATA_PARALLEL_MODES and group_size() > 1 and get_seed() is None:
        print(
            "mindspore: the ranks begin with parameters of their own: call mindspore.common.set_seed(1), or "
            "context.set_auto_parallel_context(parameter_broadcast=True)",
            file=sys.stderr,
        )
    return wanted
