"""A check of a script for TensorFlow 2: the calls that train are its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npu_bridge._check import draws_in_branches, seeds, step_taker
from npu_device._call_steps import calls, tape_roots, variables
from npu_device._execution.install import hand_options_to
from tensorflow.python.framework import random_seed

_options: dict[str, Any] = {}
"""The options of the device that the script has made the default."""


def install() -> None:
    """Take the calls that train from now on."""
    seeds.install()
    random_seed.set_seed(seeds.SEED)
    tape_roots.install()
    variables.note_places()
    draws_in_branches.install(draws_in_branches.is_in_branch)
    hand_options_to(_options.update)
    taker = step_taker(_options_of)
    calls.install(calls.CallSteps(taker.step, takes_all=False))


def _options_of(session: Any) -> Mapping[str, Any]:
    return _options
