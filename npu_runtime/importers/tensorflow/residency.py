"""Variables of eager code, of which TensorFlow and the device each have a copy: which of them is the value, and when it moves.

A program of the device leaves TensorFlow's copy old; an eager operation that writes leaves the device's old. Whoever reads asks
first for the copy that it can reach.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from threading import RLock
from typing import Any

import numpy as np
import tensorflow as tf

from npu_runtime.device.variable import Variable
from npu_runtime.graph.ops import Key
from npu_runtime.importers.tensorflow.handles import Handle, read_handle
from npu_runtime.importers.tensorflow.unwatched_calls import unwatched


class ResidentVariable:
    """One variable.  handle: what it is called.  tensor(): an eager handle that leads to it.  on_device: its value there.

    is_host_old, is_device_old: whether the other side has written since this one has.  is_shared: whether somebody reads
    TensorFlow's copy whom nobody sees, an input pipeline, so that it is made new behind each program.
    """

    def __init__(self, handle: Handle, on_device: Variable | None) -> None:
        self.handle, self.on_device = handle, on_device
        self.is_host_old, self.is_device_old, self.is_shared = False, True, False
        self.tensors: dict[int, weakref.ref[Any]] = {}
        self._lock = RLock()

    @property
    def key(self) -> Key:
        """The key of the nodes that stand for it in programs."""
        return "resource", self.handle.name

    def tensor(self) -> Any:
        """An eager handle, None when nobody has one any more."""
        return next((tensor for reference in list(self.tensors.values()) if (tensor := reference()) is not None), None)

    def to_device(self, copies: Counter[str]) -> None:
        """Give the device the value, if TensorFlow's is newer."""
        if not self.is_device_old:
            return
        tensor, variable = self.tensor(), self.on_device
        with self._lock, unwatched():
            if not self.is_device_old or variable is None or tensor is None:
                return
            if not tf.raw_ops.VarIsInitializedOp(resource=tensor):
                variable.reset()
            else:
                variable.assign(tf.raw_ops.ReadVariableOp(resource=tensor, dtype=tf.as_dtype(self.handle.dtype)).numpy())
                copies["up"] += 1
            self.is_device_old = False

    def to_host(self, copies: Counter[str]) -> None:
        """Give TensorFlow the value, if the device's is newer."""
        if not self.is_host_old:
            return
        tensor, variable = self.tensor(), self.on_device
        with self._lock, unwatched():
            is_old, self.is_host_old = self.is_host_old, False
            if not is_old or variable is None or tensor is None or not variable.is_initialized:
                return
            tf.raw_ops.AssignVariableOp(resource=tensor, value=tf.constant(variable.read(), tf.as_dtype(self.handle.dtype)))
            copies["down"] += 1

    def poison(self) -> None:
        """Spoil TensorFlow's copy, if it is old: nobody may read it."""
        tensor, variable = self.tensor(), self.on_device
        if not self.is_host_old or tensor is None or variable is None or not variable.is_initialized:
            return
        value = variable.read()
        spoiled = np.full(value.shape, np.nan if value.dtype.kind not in "iub" else 77).astype(value.dtype)
        with unwatched():
            tf.raw_ops.AssignVariableOp(resource=tensor, value=tf.constant(spoiled, tf.as_dtype(self.handle.dtype)))


class Residency:
    """All variables that programs have used.

    make(handle): the device's variable, None for one of a type that the device does not have.  drop(key): forgets it.
    """

    def __init__(self, make: Callable[[Handle], Variable | None], drop: Callable[[Key], None]) -> None:
        self._make, self._drop = make, drop
        self._by_tensor: dict[int, ResidentVariable] = {}
        self._by_name: dict[str, ResidentVariable] = {}
        self.copies: Counter[str] = Counter()
        """Copies of variables so far, "up" to the device and "down" to TensorFlow."""

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[ResidentVariable]:
        return iter(list(self._by_name.values()))

    def of(self, tensor: Any) -> ResidentVariable | None:
        """The variable that an eager handle leads to; None for another resource."""
        known = self._known(tensor)
        if known is not None:
            return known
        handle = read_handle(tensor)
        if handle is None:
            return None
        found = self._by_name.get(handle.name)
        if found is None:
            found = self._by_name[handle.name] = ResidentVariable(handle, self._make(handle))
        self._remember(tensor, found)
        return found

    def seen(self, tensor: Any) -> ResidentVariable | None:
        """The same, of a variable that a program has used; None for any other."""
        known = self._known(tensor)
        if known is not None or not self._by_name:
            return known
        handle = read_handle(tensor)
        found = self._by_name.get(handle.name) if handle is not None else None
        if found is not None:
            self._remember(tensor, found)
        return found

    def _known(self, tensor: Any) -> ResidentVariable | None:
        """The variable by the identity of a handle, which another one may get when that is gone."""
        found = self._by_tensor.get(id(tensor))
        return found if found is not None and found.tensors[id(tensor)]() is tensor else None

    def _remember(self, tensor: Any, variable: ResidentVariable) -> None:
        number = id(tensor)
        self._by_tensor[number] = variable
        variable.tensors[number] = weakref.ref(tensor, lambda gone: self._forget(number, variable, gone))

    def _forget(self, number: int, variable: ResidentVariable, gone: Any) -> None:
        """A handle is gone; with the last of them the variable is."""
        if variable.tensors.get(number) is gone:
            del variable.tensors[number]
            if self._by_tensor.get(number) is variable:
                del self._by_tensor[number]
        if not variable.tensors and self._by_name.get(variable.handle.name) is variable:
            del self._by_name[variable.handle.name]
            self._drop(variable.key)
