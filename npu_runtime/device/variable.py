"""A variable in device memory, with TensorFlow's two meanings of reading it."""

from __future__ import annotations

import itertools
import sys
from threading import RLock

import numpy as np

from npu_runtime.device.memory import allocate_array
from npu_runtime.errors import FailedPrecondition, InvalidArgument

_OWN_REFERENCES = 2
"""References that are always counted: the array's attribute itself, and getrefcount's argument."""

_numbers = itertools.count()

Extents = tuple[int | None, ...]
reshaped: dict[str, tuple[Extents, tuple[int, ...]]] = {}
"""Resource variables of the process that were given another shape than they declare: both shapes of the first time, by name."""


class Container:
    """The container of the resource variables of a session.

    is_used: whether any of them ever had a value; before that TensorFlow names the container as what is missing.
    """

    def __init__(self) -> None:
        self.is_used = False


class Variable:
    """State that outlives a step.

    name: the variable's name, for messages.  declared: the shape it was declared with; None: any.  is_ref: a ref variable
    (VariableV2) is aliased by its readers; a resource variable's readers keep what they read, so a write while somebody still
    holds it copies first.
    Source: TensorFlow's ref edges alias the buffer, ReadVariableOp's output does not change later (copy on write).
    """

    def __init__(
        self, name: str, dtype: np.dtype, is_ref: bool, declared: Extents | None = None, container: Container | None = None
    ) -> None:
        self.name = name
        self.declared = declared
        self.container = container or Container()
        self.dtype, self.type_name = dtype, dtype.name
        self.is_ref = is_ref
        self.lock = RLock()
        self.number = next(_numbers)
        self._array: np.ndarray | None = None

    @classmethod
    def of_node(cls, name: str, dtype: np.dtype, is_ref: bool, declared: Extents | None, container: Container) -> Variable:
        """The variable that a node declares.  declared: None for a shape of unknown rank.

        A ref variable takes unknown rank for a scalar, and one without elements has its value from the start.
        Source: TensorFlow's core/kernels/variable_ops.cc and Tensor::IsInitialized.
        Raises: InvalidArgument for a ref variable of a shape that is known in part.
        """
        if not is_ref:
            return cls(name, dtype, is_ref, declared, container)
        if declared is not None and None in declared:
            text = ",".join("?" if n is None else str(n) for n in declared)
            raise InvalidArgument(f"Shape [{text}] is not fully defined", name)
        shape = tuple(n for n in declared or () if n is not None)
        made = cls(name, dtype, is_ref, shape, container)
        if 0 in shape:
            made.assign(np.zeros(shape, dtype))
        return made

    @property
    def shape(self) -> Extents | None:
        """Shape of the value, else as declared."""
        return self.declared if self._array is None else self._array.shape

    @property
    def is_initialized(self) -> bool:
        return self._array is not None

    @property
    def n_bytes(self) -> int:
        return 0 if self._array is None else self._array.nbytes

    def read(self) -> np.ndarray:
        """The current value: for a ref variable the live buffer, for a resource variable a value that stays.

        Raises: FailedPrecondition when it has none yet.
        """
        if self._array is None:
            raise FailedPrecondition(f"Attempting to use uninitialized value {self.name}")
        return self._array

    def assign(self, value: np.ndarray) -> None:
        """Set the value; `value` is copied, into the old buffer where that is allowed."""
        array = self._array
        if array is None or array.shape != value.shape or not self._may_write_in_place(3):
            self._note(value.shape)
            self._array = self._copied(value)
        else:
            np.copyto(array, value)

    def _note(self, shape: tuple[int, ...]) -> None:
        """Keep what TensorFlow lets a resource variable do without a word: another shape than it declares."""
        self.container.is_used |= not self.is_ref
        declared = self.declared
        if self.is_ref or declared is None:
            return
        if len(declared) != len(shape) or any(m not in (None, n) for m, n in zip(declared, shape, strict=True)):
            reshaped.setdefault(self.name, (declared, shape))

    def writable(self) -> np.ndarray:
        """The buffer to update in place; copied first when a reader still holds the old value (resource variables)."""
        array = self._array
        if array is None:
            return self.read()
        if self.is_ref or self._is_alone(3):  # one reference is the local name above
            return array
        del array
        self._array = self._copied(self.read())
        return self._array

    def reset(self) -> None:
        self._array = None

    def _copied(self, value: np.ndarray) -> np.ndarray:
        """A copy in memory of its own that begins with a cache line."""
        made = allocate_array(value.shape, self.dtype)
        np.copyto(made, value, casting="unsafe")
        return made

    def _may_write_in_place(self, own_references: int) -> bool:
        """Views keep a reference to the memory of the array, so a count above our own means that a reader is alive."""
        return self.is_ref or self._array is None or self._is_alone(own_references)

    def _is_alone(self, own_references: int) -> bool:
        array = self._array
        assert array is not None
        return sys.getrefcount(array) <= own_references + 1 and sys.getrefcount(array.base) <= _OWN_REFERENCES
