"""Reads and assignments of variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.device.variable import Variable
from npu_runtime.errors import InvalidArgument, NotFound, OutOfRange
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import merge, same_as, scalar
from npu_runtime.kernels.threads.tiling import NARROW, SMALL, SMALL_STREAM, STREAM, OneUfunc, run_tiled

ONE_PER_VALUE = per_input_element(1, index=1)


def _assigned(ref: Spec, value: Spec, /, *, validate_shape: bool = True) -> Shape:
    return merge(ref.shape, value.shape) if validate_shape else value.shape


@kernel("Assign", unit="memory", shape=_assigned, ignores=("use_locking",))
def assign(ref: Variable, value: np.ndarray, /, *, validate_shape: bool = True) -> Variable:
    """Set a ref variable and return it.

    ref: T(...).  value: T(...).  validate_shape: False lets the variable take another shape.
    Raises: InvalidArgument when the shapes differ: the value's, or the declared one where there is none yet.
    Source: TensorFlow op `Assign`.
    """
    if validate_shape and ref.shape is not None and ref.shape != value.shape:
        old, new = variable_access.shape_text(ref.shape), variable_access.shape_text(value.shape)
        raise InvalidArgument(f"Assign requires shapes of both tensors to match. lhs shape= {old} rhs shape= {new}")
    if ref.is_ref and value.size > SMALL and ref.is_initialized and ref.read().shape == value.shape:
        run_tiled(np.copyto, ref.writable(), value, tile=STREAM)
    else:
        ref.assign(value)
    return ref


@kernel("AssignVariableOp", unit="memory", shape=variable_access.no_outputs, dtypes={"dtype": dt.ALL})
def assign_variable(resource: Variable, value: np.ndarray, /, *, validate_shape: bool = False) -> tuple[()]:
    """Set a resource variable; it takes the value's shape unless validate_shape is set.

    Raises: InvalidArgument when validate_shape is set and the shapes differ.  Source: TensorFlow op `AssignVariableOp`.
    """
    if validate_shape and resource.is_initialized and resource.read().shape != value.shape:
        old, new = variable_access.shape_text(resource.read().shape), variable_access.shape_text(value.shape)
        raise InvalidArgument(f"Trying to assign to variable with tensor with wrong shape. Expected {old} got {new}")
    if value.dtype != resource.dtype:
        expected, got = dt.tensorflow_name(resource.dtype.name), dt.tensorflow_name(value.dtype.name)
        raise InvalidArgument(f"Trying to assign variable with wrong dtype. Expected {expected} got {got}")
    resource.assign(value)
    return ()


@kernel("AssignAdd", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS, estimate=ONE_PER_VALUE, ignores=("use_locking",))
def assign_add(ref: Variable, value: np.ndarray, /) -> Variable:
    """ref += value, in place; returns the ref.  Source: TensorFlow op `AssignAdd`."""
    return _update_ref(np.add, ref, value)


@kernel("AssignSub", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS, estimate=ONE_PER_VALUE, ignores=("use_locking",))
def assign_sub(ref: Variable, value: np.ndarray, /) -> Variable:
    """ref -= value, in place; returns the ref.  Source: TensorFlow op `AssignSub`."""
    return _update_ref(np.subtract, ref, value)


def _update_ref(operation: np.ufunc, ref: Variable, value: np.ndarray) -> Variable:
    if variable_access.value(ref).shape != value.shape:
        raise InvalidArgument("Parameters and update must be the same size")
    _update(operation, ref, value)
    return ref


def _update(operation: np.ufunc, variable: Variable, value: np.ndarray) -> None:
    array = variable.writable()
    if array.size <= SMALL_STREAM and array.dtype not in NARROW:  # most updates of a step: nothing more than the ufunc
        operation(array, value, array)
    else:
        run_tiled(OneUfunc(operation), array, array, value, tile=STREAM)


@kernel(
    "AssignAddVariableOp", unit="vector", shape=variable_access.no_outputs, dtypes={"dtype": dt.NUMBERS}, estimate=ONE_PER_VALUE
)
def assign_add_variable(resource: Variable, value: np.ndarray, /) -> tuple[()]:
    """resource += value.  Source: TensorFlow op `AssignAddVariableOp`."""
    return _update_resource(np.add, resource, value)


@kernel(
    "AssignSubVariableOp", unit="vector", shape=variable_access.no_outputs, dtypes={"dtype": dt.NUMBERS}, estimate=ONE_PER_VALUE
)
def assign_sub_variable(resource: Variable, value: np.ndarray, /) -> tuple[()]:
    """resource -= value.  Source: TensorFlow op `AssignSubVariableOp`."""
    return _update_resource(np.subtract, resource, value)


def _update_resource(operation: np.ufunc, resource: Variable, value: np.ndarray) -> tuple[()]:
    if value.dtype != resource.dtype:
        raise InvalidArgument("DType of variable handle and value does not match.")
    if variable_access.value(resource).shape != value.shape:
        old, new = variable_access.shape_text(resource.read().shape), variable_access.shape_text(value.shape)
        raise InvalidArgument(f"Cannot update variable with shape {old} using a Tensor with shape {new}, shapes must be equal.")
    _update(operation, resource, value)
    return ()


@kernel("ReadVariableOp", unit="memory", shape=same_as(0), dtypes={"dtype": dt.ALL})
def read_variable(resource: Variable, /, *, dtype: str = "") -> np.ndarray:
    """The value as it is now; later writes do not change it.

    Raises: FailedPrecondition when there is none, InvalidArgument when it is of another type.
    Source: TensorFlow op `ReadVariableOp`.
    """
    value = resource.read() if resource.is_initialized else variable_access.snapshot(resource)
    if dtype and dtype != resource.type_name:
        expected, got = dt.tensorflow_name(dtype), dt.tensorflow_name(resource.type_name)
        raise InvalidArgument(f"Trying to read variable with wrong dtype. Expected {expected} got {got}")
    return value


@kernel("IsVariableInitialized", unit="scalar", shape=scalar, dtypes={"dtype": dt.ALL})
def is_variable_initialized(ref: Variable, /) -> np.ndarray:
    """Whether a ref variable has a value: () bool.  Source: TensorFlow op `IsVariableInitialized`."""
    return np.array(ref.is_initialized)


@kernel("VarIsInitializedOp", unit="scalar", shape=scalar)
def var_is_initialized(resource: Variable, /) -> np.ndarray:
    """Whether a resource variable has a value: () bool.  Source: TensorFlow op `VarIsInitializedOp`."""
    return np.array(resource.is_initialized)


def _rank_vector(input: Spec, /, **attrs: Any) -> Shape:
    return (input.rank,)


@kernel("VariableShape", unit="scalar", shape=_rank_vector, dtypes={"out_type": dt.INDICES})
def variable_shape(input: Variable, /, *, out_type: str = "int32") -> np.ndarray:
    """The shape as a vector of out_type.  Source: TensorFlow op `VariableShape`."""
    return np.array(variable_access.value(input).shape, dt.to_numpy(out_type))


@kernel("CountUpTo", "ResourceCountUpTo", unit="scalar", shape=scalar, dtypes=dt.INDICES)
def count_up_to(ref: Variable, /, *, limit: int) -> np.ndarray:
    """The value before adding one.

    Raises: OutOfRange at the limit.  Source: TensorFlow op `CountUpTo`.
    """
    before = variable_access.value(ref).copy()
    if before.ndim:
        raise InvalidArgument(f"input is not a scalar: {variable_access.shape_text(before.shape)}")
    if before >= limit:
        raise OutOfRange(f"Reached limit of {limit}")
    ref.assign(before + before.dtype.type(1))
    return before


@kernel("DestroyResourceOp", unit="scalar", shape=variable_access.no_outputs)
def destroy_resource(resource: Variable, /, *, ignore_lookup_error: bool = True) -> tuple[()]:
    """Take the value away.

    Raises: NotFound when there is none and ignore_lookup_error is False.  Source: TensorFlow op `DestroyResourceOp`.
    """
    if not resource.is_initialized and not ignore_lookup_error:
        raise NotFound(variable_access.absent(resource).partition(" (")[0])
    resource.reset()
    return ()


@kernel("DisableCopyOnRead", unit="memory", shape=variable_access.no_outputs)
def disable_copy_on_read(resource: Variable, /) -> tuple[()]:
    """Nothing: our variables never change mode.

    Source: TensorFlow op `DisableCopyOnRead` undoes a mode that sparse writes switch on; values stay as they are.
    """
    return ()
