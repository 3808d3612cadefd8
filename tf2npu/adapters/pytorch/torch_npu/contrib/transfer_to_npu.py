"""CUDA's names in a process that has NPUs: importing this module lets a script that was written for CUDA run unchanged.

Source of what is switched: the vendor's module of this name, and its guide to automatic migration.
"""

from __future__ import annotations

from typing import Any

import torch

from .._cuda import amp, arguments, checkpoints, devices, distributed, modules, profilers, reference, tensors
from .._observers import checked_steps, switched


def _uncompiled(obj: Any = None, *args: Any, **kwargs: Any) -> Any:
    """torch.jit.script as the vendor's module has it: what it is given stays Python."""
    switched.note("torch.jit.script", "leave it out: transfer_to_npu runs the function as Python")
    return obj


if checked_steps.is_reference():
    reference.prepare()
for part in (devices, arguments, amp, checkpoints, tensors, distributed, modules, profilers):
    part.install()
if checked_steps.is_reference():
    reference.install()
torch.jit.script = _uncompiled
torch.jit.script_method = lambda function: function
