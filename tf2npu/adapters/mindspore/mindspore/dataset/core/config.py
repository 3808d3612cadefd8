"""Settings of all pipelines: `mindspore.dataset.config`.

Workers, prefetching and monitoring change no value: a pipeline here reads in one thread. These settings are kept and given back.
"""

from __future__ import annotations

import json
import random

import numpy as np

from ...common import seed as common_seed

__all__ = [
    "get_auto_num_workers",
    "get_callback_timeout",
    "get_monitor_sampling_interval",
    "get_num_parallel_workers",
    "get_prefetch_size",
    "get_seed",
    "load",
    "set_auto_num_workers",
    "set_callback_timeout",
    "set_monitor_sampling_interval",
    "set_num_parallel_workers",
    "set_prefetch_size",
    "set_seed",
]

LARGEST_SEED = 2**32 - 1
SEED_OF_NOBODY = 5489
"""The seed that `get_seed` gives before one is set, as in MindSpore; pipelines then draw other numbers in every run."""

_settings: dict = {
    "seed": None,
    "prefetch_size": 16,
    "num_parallel_workers": 8,
    "monitor_sampling_interval": 1000,
    "auto_num_workers": False,
    "callback_timeout": 60,
}


def _positive(name: str, value: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"mindspore.dataset.config: {name} is {value!r}; give a whole number above 0")
    _settings[name] = value


def set_seed(seed: int) -> None:
    """Seeds the pipelines, Python's and numpy's generators, as MindSpore does for transforms that are Python functions."""
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"mindspore.dataset.config: the seed is {seed!r}; give a whole number from 0 to {LARGEST_SEED}")
    _settings["seed"] = int(seed)
    random.seed(int(seed))
    np.random.seed(seed)


def get_seed() -> int:
    """The seed of `set_seed`, or else of `mindspore.set_seed`."""
    return next((seed for seed in (_settings["seed"], common_seed.get_seed()) if seed is not None), SEED_OF_NOBODY)


def set_prefetch_size(size: int) -> None:
    _positive("prefetch_size", size)


def get_prefetch_size() -> int:
    return _settings["prefetch_size"]


def set_num_parallel_workers(num: int) -> None:
    _positive("num_parallel_workers", num)


def get_num_parallel_workers() -> int:
    return _settings["num_parallel_workers"]


def set_monitor_sampling_interval(interval: int) -> None:
    _positive("monitor_sampling_interval", interval)


def get_monitor_sampling_interval() -> int:
    return _settings["monitor_sampling_interval"]


def set_callback_timeout(timeout: int) -> None:
    _positive("callback_timeout", timeout)


def get_callback_timeout() -> int:
    return _settings["callback_timeout"]


def set_auto_num_workers(enable: bool) -> None:
    if not isinstance(enable, bool):
        raise TypeError(f"mindspore.dataset.config: auto_num_workers is {enable!r}; give True or False")
    _settings["auto_num_workers"] = enable


def get_auto_num_workers() -> bool:
    return _settings["auto_num_workers"]


def load(file: str) -> None:
    """Reads settings from a JSON file; names that are not settings of this module are an error."""
    with open(file, encoding="utf-8") as opened:
        read = json.load(opened)
    for name, value in ((name.lower(), value) for name, value in read.items()):
        setter = {"numparallelworkers": set_num_parallel_workers, "prefetchsize": set_prefetch_size, "seed": set_seed}.get(
            name.replace("_", ""), globals().get(f"set_{name}")
        )
        if setter is None:
            raise ValueError(f"{file}: {name} is no setting of mindspore.dataset.config; take it out")
        setter(value)
