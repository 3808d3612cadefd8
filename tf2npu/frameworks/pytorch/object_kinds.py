"""Kinds of PyTorch's objects: what a call gives, and the one name of what every tensor and module has."""

from __future__ import annotations

import re

TENSOR, MODULE, DEVICE = "torch.Tensor()", "torch.nn.Module()", "torch.device()"
"""The names of a tensor, a module and a device, as the resolver writes instances."""

_FUNCTIONS = re.compile(r"torch(?:\.nn\.functional|\.fft|\.linalg|\.special|\.sparse|\.nested)?\.[a-z]\w*$")
_NO_TENSOR = frozenset((
    "torch.compile", "torch.load", "torch.save", "torch.manual_seed", "torch.seed", "torch.is_tensor", "torch.numel",
    "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.get_default_dtype", "torch.set_default_dtype",
    "torch.set_default_device", "torch.set_default_tensor_type", "torch.autocast", "torch.typename", "torch.split",
    "torch.chunk", "torch.unbind", "torch.meshgrid", "torch.sort", "torch.topk", "torch.max", "torch.min", "torch.svd",
    "torch.get_device_module", "torch.is_grad_enabled", "torch.equal", "torch.allclose", "torch.is_storage", "torch.dtype",
    "torch.finfo", "torch.iinfo", "torch.set_num_threads", "torch.get_num_threads", "torch.is_floating_point",
    "torch.broadcast_shapes", "torch.result_type", "torch.can_cast",
))  # fmt: skip
"""Functions of lower case that give no tensor, or more than one."""

_TENSOR_CLASSES = re.compile(
    r"torch\.(?:(?:cuda|npu|sparse)\.)?\w*Tensor$|torch\.autograd\.(?:variable\.)?Variable$|torch\.nn\.Parameter$"
)
"""Classes whose objects are tensors; those of an element type give one of it."""

_METHODS = frozenset((
    "to", "cuda", "npu", "cpu", "float", "half", "double", "bfloat16", "long", "int", "contiguous", "clone", "detach", "view",
    "reshape", "permute", "transpose", "unsqueeze", "squeeze", "requires_grad_", "pin_memory", "flatten", "expand", "repeat",
    "type", "mean", "sum", "abs", "exp", "log", "sqrt", "pow", "add", "sub", "mul", "div", "matmul", "mm", "bmm", "t", "bool",
    "sigmoid", "tanh", "softmax",
))  # fmt: skip
"""Methods of a tensor that give one tensor."""

_OF_MODULE = frozenset((
    "to", "cuda", "npu", "cpu", "float", "half", "double", "bfloat16", "train", "eval", "requires_grad_", "apply",
))  # fmt: skip
"""Methods of a module that give the module."""

_SHARED = frozenset(("cuda", "is_cuda", "to", "cpu"))
"""Attributes that tensors and modules have alike, and a converter asks for."""


def returned(name: str) -> str | None:
    """The object that a call gives: "torch.Tensor()", "torch.nn.Linear()"; None where that is not known."""
    owner, _, last = name.rpartition(".")
    if _TENSOR_CLASSES.match(name):
        return TENSOR
    if name == "torch.device":
        return DEVICE
    if owner == TENSOR:
        return TENSOR if last in _METHODS else None
    if owner.endswith("()") and last in _OF_MODULE and owner.startswith("torch.nn."):
        return owner
    if last[:1].isupper() and not name.endswith(")"):
        return f"{name}()"
    return TENSOR if _FUNCTIONS.match(name) and name not in _NO_TENSOR else None


def canonical(name: str) -> str:
    """The one spelling of a name; `cuda` and the like of any module are those of `torch.nn.Module()`."""
    if name.startswith("torch_npu.npu."):
        return f"torch.npu.{name.removeprefix('torch_npu.npu.')}"
    owner, _, last = name.rpartition(".")
    if last in _SHARED and owner.endswith("()") and owner.startswith("torch.nn.") and owner != MODULE:
        return f"{MODULE}.{last}"
    return name
