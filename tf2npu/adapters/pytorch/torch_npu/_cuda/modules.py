"""torch.cuda and the modules below it, as all code but PyTorch's own sees them: with the names of torch.npu.

An attribute that is asked for is what the NPU has, and the place is recorded. The modules' own variables stay, so that PyTorch's
functions find what they are written for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from types import FrameType, ModuleType
from typing import Any

import torch

from .. import npu
from .._observers import switched
from . import refused, tensors
from .frames import is_of_torch

Switches = dict[str, tuple[Any, str]]
"""Name -> what takes its place, and the spelling for the NPU; "" for what is refused and so not switched."""


def _is_of_import(frame: FrameType) -> bool:
    """Whether Python's import asks if a name is there, before the line of the script takes it."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


def switch_module(module: ModuleType, switches: Switches) -> None:
    """Give a module attributes for others than PyTorch."""
    now = dict(switches)
    own = {name: module.__dict__.get(name) for name in switches}
    full_name = module.__name__

    class Module(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            found = now.get(name)
            if found is None or is_of_torch(sys._getframe(1)):
                return super().__getattribute__(name)
            value, instead = found
            if instead and not _is_of_import(sys._getframe(1)):
                switched.note(f"{full_name}.{name}", instead)
            return value

        def __setattr__(self, name: str, value: Any) -> None:
            """A script's own value is there for all; what it puts back is what was switched."""
            super().__setattr__(name, value)
            if name in switches:
                now[name] = switches[name] if value is own[name] or value is switches[name][0] else (value, "")

    module.__class__ = Module


def _of_npu(names: Iterable[str], path: str = "torch.npu", module: Any = npu) -> Switches:
    return {name: (getattr(module, name), f"{path}.{name}") for name in names}


def _main() -> Switches:
    """Names of torch.cuda itself. The module amp stays that of PyTorch, as its own names are switched."""
    shared = [name for name in npu.__all__ if name != "amp" and hasattr(torch.cuda, name)]
    made = _of_npu(shared)
    made |= {name: (kind, f"torch.npu.{name}") for name, kind in tensors.OLD_TYPES.items()}
    return _refused("torch.cuda", {name: text for name, text in refused.ADVICE.items() if hasattr(torch.cuda, name)}) | made


def _refused(path: str, advice: Any) -> Switches:
    return {name: (refused.Refused(f"{path}.{name}", text), "") for name, text in advice.items()}


def _below() -> dict[str, Switches]:
    """Module below torch.cuda -> its switches. Names that npu has not are those of PyTorch."""
    amp = _of_npu(npu.amp.__all__, "torch.npu.amp", npu.amp)
    made = {"amp": amp, "amp.autocast_mode": amp, "amp.grad_scaler": amp}
    whole = _main()
    for name in ("memory", "random", "streams"):
        module = importlib.import_module(f"torch.cuda.{name}")
        made[name] = {key: found for key, found in whole.items() if key in vars(module)}
    for name, advice in refused.WHOLE_MODULES.items():
        module = importlib.import_module(f"torch.cuda.{name}")
        public = [key for key in vars(module) if not key.startswith("_")]
        made[name] = _refused(f"torch.cuda.{name}", dict.fromkeys(public, advice))
    return made


def install() -> None:
    """Switch torch.cuda and what is below it."""
    for name, switches in _below().items():
        switch_module(importlib.import_module(f"torch.cuda.{name}"), switches)
    switch_module(torch.cuda, _main())
