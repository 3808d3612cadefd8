"""Places that take a device or the backend of a process group: arguments of calls, and names that people give to such values.

Source of the arguments: the signatures of PyTorch 2.13.
"""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.other_frameworks import BUILT_ON_PYTORCH
from tf2npu.scanner.names import root_of

DEVICE, BACKEND = "device", "backend"
"""Kinds of texts: the name of a device, or of a backend of torch.distributed."""

POSITIONS: dict[tuple[str, int], str] = {
    ("torch.device", 0): DEVICE, ("torch.load", 1): DEVICE, ("torch.jit.load", 1): DEVICE,
    ("torch.set_default_device", 0): DEVICE,
    ("torch.autocast", 0): DEVICE, ("torch.amp.autocast", 0): DEVICE, ("torch.amp.GradScaler", 0): DEVICE,
    ("torch.amp.autocast_mode.autocast", 0): DEVICE, ("torch.amp.is_autocast_available", 0): DEVICE,
    ("torch.is_autocast_enabled", 0): DEVICE, ("torch.get_autocast_dtype", 0): DEVICE, ("torch.get_device_module", 0): DEVICE,
    ("torch.Generator", 0): DEVICE, ("torch.hub.load_state_dict_from_url", 2): DEVICE,
    ("torch.utils.model_zoo.load_url", 2): DEVICE, ("torch.optim.swa_utils.AveragedModel", 1): DEVICE,
    ("torch.distributed.init_device_mesh", 0): DEVICE, ("torch.distributed.device_mesh.init_device_mesh", 0): DEVICE,
    ("torch.distributed.device_mesh.DeviceMesh", 0): DEVICE, ("torch.Stream", 0): DEVICE, ("torch.Event", 0): DEVICE,
    ("torch.distributed.init_process_group", 0): BACKEND, ("torch.distributed.Backend", 0): BACKEND,
    ("torch.distributed.new_group", 2): BACKEND, ("torch.distributed.is_backend_available", 0): BACKEND,
}  # fmt: skip
"""(qualified name, position) -> what it takes there."""

METHODS = frozenset(("to", "cuda", "npu", "to_empty"))
"""Methods of tensors and modules whose first argument is a device, whatever object it is."""

DEVICE_NAME = re.compile(r"(?:^|_|\b)(?:device|devices|dev|map_?location|devicetype)(?:_|\b|$)|device$", re.IGNORECASE)
BACKEND_NAME = re.compile(r"backend", re.IGNORECASE)
"""Names of variables, attributes, keys, options and arguments that hold one: `device_map`, `pin_memory_device`.

`accelerator` is none: Lightning has names of its own for it, and none for the NPU.
"""


def named(name: str) -> str:
    """The kind of value that a name tells; empty where it tells none."""
    if BACKEND_NAME.search(name):
        return BACKEND
    return DEVICE if DEVICE_NAME.search(name) else ""


def is_of_torch(name: str | None) -> bool:
    """Whether a callee may take a device of PyTorch: its own, one of a package over PyTorch, of the project, or not known."""
    if name is None or name.startswith(("user:", "project:", "builtins.")):
        return True
    return root_of(name) in BUILT_ON_PYTORCH or root_of(name) == "torch"


def of_argument(name: str | None, func: cst.BaseExpression, position: int, keyword: str) -> str:
    """The kind of value that an argument of a call takes: by its keyword, by the function, or by the method."""
    if keyword:
        return named(keyword) if is_of_torch(name) else ""
    if name is not None and (name, position) in POSITIONS:
        return POSITIONS[name, position]
    if name is not None and name.startswith(("torch.cuda.", "torch.npu.")) and position == 0:
        return DEVICE
    is_method = isinstance(func, cst.Attribute) and func.attr.value in METHODS
    return DEVICE if is_method and position == 0 and is_of_torch(name) else ""
