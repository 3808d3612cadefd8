"""Operators of the simulated device: the CPU's kernels on the hosts' tensors, with the checks that a device makes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch

from . import numbering, shapes_only
from .aliases import Aliases, aliases_of
from .memory import POOLS, Allocation
from .tensor import BEHAVIOUR, NpuTensor, bytes_of, replace

_aten = torch.ops.aten
_OURS = numbering.TYPES
_Tensor, _device = torch.Tensor, torch.device

_COPY = _aten.copy_.default
COPIES = frozenset((_aten._to_copy.default, _aten.copy_.default, _aten._copy_from.default))
"""Operators between devices."""

_HOST_ARGUMENTS = frozenset(
    (_aten._pack_padded_sequence.default, _aten._pad_packed_sequence.default, _aten.index.Tensor, _aten.index_put_.default,
     _aten.index_put.default, _aten._index_put_impl_.default, _aten._unsafe_index.Tensor, _aten._unsafe_index_put.default,
     _aten._ctc_loss.Tensor, _aten._ctc_loss_backward.Tensor)
)  # fmt: skip
"""Operators that take indices or lengths of the host for tensors of a device."""

_LENGTHS = {_aten._pack_padded_sequence.default: 1, _aten._pad_packed_sequence.default: 1}
"""Operators of whose results one stays on the host: lengths of sequences, which recurrent layers are called with."""

_LABELLED = frozenset(
    (_aten.nll_loss_forward.default, _aten.nll_loss_backward.default, _aten.nll_loss2d_forward.default,
     _aten.nll_loss2d_backward.default)
)  # fmt: skip
"""Losses whose labels may be int32 on the device (textbook, listing 5-44) and may not on the CPU."""

_WITH_PLACES = frozenset((_aten._sparse_mm_reduce_impl.default,))
"""Operators that keep what their backward needs only for hosts that need gradients; without it, that ends the process."""

_SPECIAL = COPIES | _WITH_PLACES | _LABELLED | _LENGTHS.keys()
"""Operators that are in one of the sets above: one look instead of several, as an operator's hash is made in Python."""

OBSERVERS: list[Callable[[Any, tuple, dict[str, Any], Any, int], None]] = []
"""Functions that are told of each operator: itself, its arguments, its keywords, its result, and the number of the device."""

ON_WRAPPERS: dict[Any, Callable[..., Any]] = {}
"""Operators that are asked about the wrapper itself."""


class _Unwrapped:
    """Arguments of one operator as tensors of the host."""

    __slots__ = ("host", "index", "is_complex", "operator")

    def __init__(self, operator: Any) -> None:
        self.operator = operator
        self.index = -1
        self.is_complex = False
        self.host: _Tensor | None = None

    def argument(self, value: Any) -> Any:
        if isinstance(value, NpuTensor):
            if self.index < 0:
                self.index = value.index
            elif self.index != value.index and self.operator not in COPIES:
                raise RuntimeError(_two_devices(self.index, f"npu:{value.index}"))
            host = value.host
            if host.is_complex():
                self.is_complex = True
            return host
        if isinstance(value, _Tensor):
            if value.dim() or value.is_meta:
                self.host = value
            return value
        if isinstance(value, _device):
            return shapes_only.HOST if value.type in _OURS else value
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], (_Tensor, type(None))):
            return [self.argument(part) for part in value]
        return value

    def check(self) -> None:
        """Raises: RuntimeError where a tensor of the host meets one of a device."""
        if self.host is None or self.index < 0:
            return
        if self.host.is_meta:
            raise RuntimeError(
                f"{self.operator} got a tensor of the device meta, which has no numbers, beside one of npu:{self.index}: "
                "move the model by to_empty(device='npu')"
            )
        if self.operator not in COPIES and self.operator not in _HOST_ARGUMENTS:
            raise RuntimeError(_two_devices(self.index, "cpu"))


def _two_devices(first: int, other: str) -> str:
    return f"Expected all tensors to be on the same device, but found at least two devices, npu:{first} and {other}!"


def _is_copied_shallowly(one: _Tensor, other: _Tensor) -> bool:
    return isinstance(one, NpuTensor) and isinstance(other, NpuTensor)


def _layout(tensor: NpuTensor) -> torch.layout:
    return tensor.host.layout


ON_WRAPPERS[_aten._has_compatible_shallow_copy_type.default] = _is_copied_shallowly
ON_WRAPPERS[torch.ops.prim.layout.default] = _layout


def run_operator(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Carry out an operator of which an argument, or the device that it names, is of the simulated device.

    Raises: RuntimeError for tensors of two devices, torch.OutOfMemoryError; what the CPU's kernel raises.
    """
    if operator in ON_WRAPPERS:
        return ON_WRAPPERS[operator](*args, **kwargs)
    result, index = carried_out(operator, args, kwargs)
    if OBSERVERS:
        tell(operator, args, kwargs, result, index)
    return result


def carried_out(operator: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, int]:
    """The result of an operator of which nobody is told, and the number of its device.  Raises: as `run_operator`."""
    seen = _Unwrapped(operator)
    own = [seen.argument(value) for value in args]
    own_keywords = {name: seen.argument(value) for name, value in kwargs.items()} if kwargs else kwargs
    if seen.host is not None:
        seen.check()
    is_special = operator in _SPECIAL
    if is_special:
        own = _prepared(operator, own)
    index = seen.index if seen.index >= 0 else numbering.current_device()
    try:
        if shapes_only.IS_ON:
            out = shapes_only.run(operator, own, own_keywords)
        elif seen.is_complex:
            out = _of_complex(operator, own, own_keywords)
        else:
            out = args[0] if operator is _COPY and _is_itself(*own[:2]) else operator(*own, **own_keywords)
    except RuntimeError as error:
        _see_to_memory(index, error)
        raise
    if is_special and operator in COPIES:
        result = _copied(operator, args, kwargs, out, index)
    elif kwargs and kwargs.get("device") is not None:
        result = _made_on(kwargs["device"], out)
    elif is_special and operator in _LENGTHS:
        result = _with_lengths(operator, out, index)
    else:
        result = _wrapped(out, aliases_of(operator), args, kwargs, index)
    return result, index


def _prepared(operator: Any, own: list[Any]) -> list[Any]:
    """The hosts' tensors as an operator wants them that is in one of the sets above."""
    if operator in _WITH_PLACES:
        return [value.detach().requires_grad_() if isinstance(value, _Tensor) else value for value in own]
    if operator in _LABELLED:
        return [value.long() if isinstance(value, _Tensor) and value.dtype is torch.int32 else value for value in own]
    return own


_MARKS = torch._C.DispatchKeySet(torch._C.DispatchKey.Conjugate) | torch._C.DispatchKeySet(torch._C.DispatchKey.Negative)


def _of_complex(operator: Any, own: list[Any], own_keywords: dict[str, Any]) -> Any:
    """The result of an operator that may mark numbers as conjugate within: below autograd PyTorch does not look at such marks."""
    excluded = torch._C._dispatch_tls_local_exclude_set() - _MARKS
    with torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded):
        return operator(*own, **own_keywords)


def _is_itself(target: _Tensor, source: _Tensor) -> bool:
    """Whether a tensor is copied to a view of itself of another shape, as C++ does where it cannot see that both are one."""
    return target.shape != source.shape and target.numel() == source.numel() > 0 and target.data_ptr() == source.data_ptr()


def tell(operator: Any, args: tuple, kwargs: dict[str, Any], result: Any, index: int) -> None:
    """Tell the observers of an operator.  operator: PyTorch's, or a text for what it has none for.  index: of the device."""
    for observer in OBSERVERS:
        observer(operator, args, kwargs, result, index)


def _copied(operator: Any, args: tuple, kwargs: dict[str, Any], out: Any, index: int) -> Any:
    if operator is not _aten._to_copy.default:
        return args[0]
    wanted = kwargs.get("device")
    return NpuTensor(out, index) if wanted is None else _made_on(wanted, out)


def _made_on(wanted: _device, out: _Tensor) -> _Tensor:
    """A tensor that the operator was asked to make on a device, which may be another than that of its arguments."""
    return NpuTensor(out, numbering.index_of(wanted)) if wanted.type in _OURS else out


def _wrapped(out: Any, aliases: Aliases, args: tuple, kwargs: dict[str, Any], index: int) -> Any:
    if aliases.written:
        results = [args[at] if at < len(args) else kwargs[name] for at, name in aliases.written]
        for result, made in zip(results, (out,) if isinstance(out, _Tensor) else out, strict=False):
            _follow_size(result, made)
        return results[0] if len(results) == 1 else tuple(results)
    base = args[aliases.viewed] if 0 <= aliases.viewed < len(args) else None
    if not isinstance(base, NpuTensor):
        return _new(out, index, None)
    if torch.is_inference_mode_enabled() and not base.is_inference():
        with torch.inference_mode(False):  # a view of what may be trained stays so there, too
            return _view(out, index, base, aliases)
    return _view(out, index, base, aliases)


def _view(out: Any, index: int, base: NpuTensor, aliases: Aliases) -> Any:
    shares = aliases.is_certain or not isinstance(out, _Tensor) or _share_storage(out, base.host)
    return _new(out, index, base.allocation if shares else None)


def _new(out: Any, index: int, allocation: Allocation | None) -> Any:
    if isinstance(out, _Tensor):
        return NpuTensor(out, index, allocation)
    if isinstance(out, (tuple, list)):
        return type(out)(NpuTensor(part, index, allocation) if isinstance(part, _Tensor) else part for part in out)
    return out


_TOO_LARGE = re.compile(r"DefaultCPUAllocator: can't allocate memory: you tried to allocate (\d+) bytes")


def _see_to_memory(index: int, error: RuntimeError) -> None:
    """Raises: torch.OutOfMemoryError where the host has no memory for numbers that the device has none for either."""
    asked = _TOO_LARGE.search(str(error))
    if asked:
        room_for(index, int(asked[1]))


def _with_lengths(operator: Any, out: Any, index: int) -> tuple[Any, ...]:
    at = _LENGTHS[operator]
    return tuple(part if place == at else NpuTensor(part, index) for place, part in enumerate(out))


def _share_storage(one: _Tensor, other: _Tensor) -> bool:
    return one.untyped_storage()._cdata == other.untyped_storage()._cdata


def _follow_size(result: Any, made: Any) -> None:
    """Bring a tensor that was written up to date with its host's, which may have another size and storage now."""
    if not isinstance(result, NpuTensor) or (result.shape == made.shape and result.stride() == made.stride()):
        return
    size = bytes_of(made)
    if size != result.allocation.size:
        result.allocation.resize(size)
    replace(result, result.host, result.allocation)


def room_for(index: int, size: int) -> None:
    """Ask for memory before the host's is taken.  size: bytes.  Raises: torch.OutOfMemoryError."""
    pool = POOLS[index]
    if pool.limit is not None and pool.live + size > pool.limit:
        pool.take(size)


def install() -> None:
    """Let tensors carry out their operators here."""
    BEHAVIOUR.run_operator = run_operator
