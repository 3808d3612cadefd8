"""Tensors of the simulated device.

Each wraps a tensor of the host that holds its numbers. To PyTorch's C++ it is a tensor of a device `lazy` with the same number: a
device that PyTorch has for graph compilers, and for which it has no kernels of its own unless one of those is started. Autograd
works in the caller's thread for it, without streams, so that a Python error inside of backward is an exception. A device `npu` of
C++ would end the process there: its guard asks Python for streams while the stack unwinds. What C++ makes for itself on the
device of a tensor, such as masks and zeros of gradients, comes to `factories`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import indexing, numbering
from .memory import Allocation

_AUTOCAST = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
_devices = numbering.OF_CPP
_wrapper = torch.Tensor._make_wrapper_subclass
_get_data = torch.Tensor.data.__get__
_set_data = torch.Tensor.data.__set__


class Behaviour:
    """Acts of a tensor that are done by modules that make tensors themselves; each puts its own in here when it is installed."""

    run_operator: Callable[[Any, tuple, dict[str, Any]], Any]
    to: Callable[[Any, tuple, dict[str, Any]], torch.Tensor]
    deep_copy: Callable[[Any, dict[int, Any]], torch.Tensor]
    reduced: Callable[[Any], tuple]


BEHAVIOUR = Behaviour()


class NpuTensor(torch.Tensor):
    """A tensor of a simulated device.

    host: the tensor that holds its numbers.  index: of the device.  allocation: of the storage that it shares, None for a new
    one.  Its strides, offset and type are those of the host's tensor.
    """

    host: torch.Tensor
    index: int
    allocation: Allocation

    @staticmethod
    def __new__(cls, host: torch.Tensor, index: int, allocation: Allocation | None = None) -> NpuTensor:
        if host.is_conj() or host.is_neg():
            host = host.resolve_conj().resolve_neg()  # below autograd PyTorch does not look at these marks
        if host.layout is torch.strided:
            made = _wrapper(
                cls, host.size(), strides=host.stride(), storage_offset=host.storage_offset(), dtype=host.dtype,
                device=_devices[index], _extra_dispatch_keys=_AUTOCAST,
            )  # fmt: skip
        else:
            made = _wrapper(
                cls, host.size(), dtype=host.dtype, layout=host.layout, device=_devices[index], dispatch_layout=True,
                _extra_dispatch_keys=_AUTOCAST,
            )  # fmt: skip
        made.host, made.index = host, index
        made.allocation = Allocation(index, bytes_of(host)) if allocation is None else allocation
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, operator: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        return BEHAVIOUR.run_operator(operator, args, kwargs or {})

    @property
    def device(self) -> torch.device:
        return numbering.device(self.index)

    def get_device(self) -> int:
        return self.index

    is_npu = property(lambda self: True)
    is_cpu = property(lambda self: False)
    is_meta = property(lambda self: False)

    @property
    def data(self) -> torch.Tensor:
        return _get_data(self)

    @data.setter
    def data(self, other: torch.Tensor) -> None:
        if not isinstance(other, NpuTensor):
            raise RuntimeError(
                f"a tensor of {self.device} cannot take the data of one of {other.device}: move that by .to() first"
            )
        self.host, self.index, self.allocation = other.host, other.index, other.allocation
        _set_data(self, other)

    def cpu(self, memory_format: torch.memory_format = torch.preserve_format) -> torch.Tensor:
        return self.to("cpu")

    def npu(self, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> torch.Tensor:
        return self.to(numbering.device(numbering.index_of(device)))

    def to(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        return BEHAVIOUR.to(self, args, kwargs)

    def type(self, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if dtype is None:
            return f"torch.npu.{super().type().rpartition('.')[2]}"
        return super().type(dtype.replace(".npu.", ".") if isinstance(dtype, str) else dtype, non_blocking, **kwargs)

    def __getitem__(self, index: Any) -> torch.Tensor:
        return super().__getitem__(indexing.index_of_host(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, torch.Tensor):
            value = torch.as_tensor(value, dtype=self.dtype)
        if not isinstance(value, NpuTensor) and value.dim() == 0:
            value = NpuTensor(value.to(self.dtype), self.index)
        super().__setitem__(indexing.index_of_host(index), value)

    def numpy(self, *, force: bool = False) -> Any:
        if force:
            return self.detach().cpu().numpy()
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __array__(self, dtype: Any = None) -> Any:
        return self.numpy()

    def tolist(self) -> Any:
        return self.detach().cpu().tolist()

    def data_ptr(self) -> int:
        return self.host.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.host.untyped_storage()

    def record_stream(self, stream: Any) -> None:
        """Nothing: memory is given back when the last tensor goes, and operators are done when they return."""

    def pin_memory(self, device: Any = None) -> torch.Tensor:
        raise RuntimeError(f"cannot pin a tensor of {self.device}: only tensors of the host can be pinned")

    def is_pinned(self, device: Any = None) -> bool:
        return False

    def is_shared(self) -> bool:
        return True

    def share_memory_(self) -> torch.Tensor:
        return self

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        text = repr(self.host.detach())[:-1] + f", device='{self.device}'"
        if self.grad_fn is not None:
            return f"{text}, grad_fn=<{type(self.grad_fn).__name__}>)"
        text += ", requires_grad=True)" if self.requires_grad else ")"
        return f"Parameter containing:\n{text}" if isinstance(self, torch.nn.Parameter) else text

    def __copy__(self) -> torch.Tensor:
        made = self.detach()
        return torch.nn.Parameter(made, self.requires_grad) if isinstance(self, torch.nn.Parameter) else made

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        return BEHAVIOUR.deep_copy(self, memo)

    def __reduce_ex__(self, protocol: int) -> Any:
        return BEHAVIOUR.reduced(self)


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The host's tensor of one of a device; any other tensor as it is."""
    return tensor.host if isinstance(tensor, NpuTensor) else tensor


def bytes_of(host: torch.Tensor) -> int:
    """Bytes of the storage of a host's tensor; of a sparse one those of its values and indices."""
    if host.layout is torch.strided:
        return host.untyped_storage().nbytes()
    parts = (host._values(), host._indices()) if host.layout is torch.sparse_coo else (host.values(),)
    return sum(part.untyped_storage().nbytes() for part in parts)


def replace(tensor: NpuTensor, host: torch.Tensor, allocation: Allocation) -> None:
    """Give a tensor another size, as `resize_` and `set_` do: a wrapper's own is fixed, so C++ gets another one's."""
    with torch.no_grad():
        _set_data(tensor, NpuTensor(host, tensor.index, allocation))
    tensor.host, tensor.allocation = host, allocation
