"""Rows and slices written by index: into variables, into copies of tensors, into zeros."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import no_work, per_input_element
from npu_runtime.device.variable import Variable
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.elementwise.arithmetic import truncate_divide
from npu_runtime.kernels.shapes import constant_ints, same_as
from npu_runtime.kernels.threads import row_indexing
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
Combine = Callable[[Array, Array, Array], None]
"""combine(target rows, row numbers, updates) changes the target in place, one update after the other."""


def _replace(target: Array, numbers: Array, updates: Array) -> None:
    """The last of several updates of one row stays, as when they are written one by one."""
    target[numbers] = updates


def _by(operation: np.ufunc) -> Combine:
    return lambda target, numbers, updates: row_indexing.combine(operation, target, numbers, updates)


def _extremes(operation: np.ufunc, never: float) -> Combine:
    """The update by the smaller or larger number. TensorFlow compares the update with what is there, so a NaN neither replaces
    nor is replaced."""

    def combine(target: Array, numbers: Array, updates: Array) -> None:
        is_nan = np.isnan(updates) if target.dtype.kind not in "iu" else np.zeros((), bool)
        given = np.where(is_nan, np.asarray(never, target.dtype), updates) if is_nan.any() else updates
        row_indexing.combine(operation, target, numbers, given)

    return combine


def _quotients(target: Array, numbers: Array, updates: Array) -> None:
    """Whole numbers are cut off toward zero. Raises: InvalidArgument for a whole number divided by zero."""
    if target.dtype.kind not in "iu":
        row_indexing.combine(np.divide, target, numbers, updates)
        return
    waiting = np.arange(len(numbers))
    while waiting.size:  # one update of each row at a time: quotients of whole numbers do not combine
        named, first = np.unique(numbers[waiting], return_index=True)
        truncate_divide(quotients := np.empty_like(target[named]), target[named], updates[waiting[first]])
        target[named] = quotients
        waiting = np.delete(waiting, first)


COMBINES: dict[str, tuple[Combine, frozenset[str]]] = {
    "Update": (_replace, dt.ALL),
    "Add": (_by(np.add), dt.NUMBERS),
    "Sub": (_by(np.subtract), dt.NUMBERS),
    "Mul": (_by(np.multiply), dt.NUMBERS),
    "Div": (_quotients, dt.NUMBERS),
    "Min": (_extremes(np.minimum, np.inf), dt.NUMBERS),
    "Max": (_extremes(np.maximum, -np.inf), dt.NUMBERS),
}


def _register_rows(name: str, combine: Combine, dtypes: frozenset[str]) -> None:
    """Scatter<name> and ResourceScatter<name>: updates go to the rows that indices name, up to the first that is none."""

    def scatter(ref: Variable, indices: Array, updates: Array, /) -> Variable | tuple[()]:
        variable_access.require(ref)
        target = ref.writable()
        _check_shapes(target, indices, updates, ref.is_ref)
        if name == "Div" and not ref.is_ref and (updates == 0).any():
            raise InvalidArgument("updates must not contain 0")
        n_rows, inner = target.shape[0], math.prod(target.shape[1:])
        n_inside = row_indexing.n_inside(indices, n_rows)
        if n_inside and inner:
            given = np.broadcast_to(updates, (indices.size, inner)) if updates.ndim == 0 else updates.reshape(-1, inner)
            combine(target.reshape(n_rows, inner), indices.reshape(-1)[:n_inside], given[:n_inside])
        row_indexing.check_range(indices, n_rows)
        return variable_access.result(ref)

    scatter.__doc__ = f"{name} rows of a variable.  Source: TensorFlow ops `Scatter{name}`, `ResourceScatter{name}`."
    estimate = no_work if name == "Update" else per_input_element(1, index=2)
    indices = {"Tindices": dt.INDICES}
    kernel(f"Scatter{name}", unit="vector", shape=same_as(0), dtypes={"T": dtypes, **indices}, estimate=estimate,
           ignores=("use_locking",))(scatter)  # fmt: skip
    kernel(f"ResourceScatter{name}", unit="vector", shape=variable_access.no_outputs, dtypes={"dtype": dtypes, **indices},
           estimate=estimate)(scatter)  # fmt: skip


def _check_shapes(target: Array, indices: Array, updates: Array, is_ref: bool) -> None:
    if target.ndim == 0:
        raise InvalidArgument(f"params must be at least 1-D, got shape {shape_text(target.shape)}")
    if updates.ndim and updates.shape != indices.shape + target.shape[1:]:
        if not is_ref and updates.shape[: indices.ndim] != indices.shape:
            prefix = f"The shape of indices ({shape_text(indices.shape)}) must be a prefix of the shape of updates"
            raise InvalidArgument(f"{prefix} ({shape_text(updates.shape)})")
        raise InvalidArgument(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {shape_text(updates.shape)}, indices.shape {shape_text(indices.shape)}, "
            f"params.shape {shape_text(target.shape)}"
        )


def _register_slices(name: str, combine: Combine, dtypes: frozenset[str]) -> None:
    """ScatterNd<name>, ResourceScatterNd<name> and TensorScatter<name>: updates go to slices that index tuples name."""

    def scatter(ref: Variable, indices: Array, updates: Array, /) -> Variable | tuple[()]:
        variable_access.require(ref)
        target = ref.writable()
        _scatter_slices(combine, target, indices, updates, _check_slices_of_variable(target.shape, indices, updates))
        return variable_access.result(ref)

    def copy(tensor: Array, indices: Array, updates: Array, /, *, out: Array | None = None) -> Array:
        made = np.empty(tensor.shape, tensor.dtype) if out is None else out
        if made is not tensor:
            np.copyto(made, tensor)
        _scatter_slices(combine, made, indices, updates, _check_slices(made.shape, indices, updates))
        return made

    scatter.__doc__ = f"{name} slices of a variable.  Source: TensorFlow ops `ScatterNd{name}`, `ResourceScatterNd{name}`."
    copy.__doc__ = f"{name} slices of a copy.  Source: TensorFlow op `TensorScatter{name}`."
    estimate = no_work if name == "Update" else per_input_element(1, index=2)
    fixed: dict[str, Any] = {"unit": "vector", "dtypes": {"T": dtypes, "Tindices": dt.INDICES}, "estimate": estimate}
    kernel(f"ScatterNd{name}", shape=same_as(0), ignores=("use_locking",), **fixed)(scatter)
    kernel(f"ResourceScatterNd{name}", shape=variable_access.no_outputs, ignores=("use_locking",), **fixed)(scatter)
    copies = (f"TensorScatter{name}", "ScatterNdNonAliasingAdd") if name == "Add" else (f"TensorScatter{name}",)
    kernel(*copies, shape=same_as(0), inplace=(0,), **fixed)(copy)


def _scatter_slices(combine: Combine, target: Array, indices: Array, updates: Array, depth: int) -> None:
    """depth: the length of an index tuple.

    Raises: InvalidArgument for a tuple outside of the shape, with what stands before it written, as TensorFlow leaves a variable.
    """
    tuples = indices.reshape(math.prod(indices.shape[:-1]), indices.shape[-1])[:, :depth]
    numbers, wrong = row_indexing.linear(tuples, target.shape)
    inside = numbers if wrong < 0 else numbers[:wrong]
    inner = math.prod(target.shape[depth:])
    if inside.size and inner:
        combine(target.reshape(-1, inner), inside, updates.reshape(-1, inner)[: len(inside)])
    if wrong >= 0:
        where = f"indices{row_indexing.position_text(indices.shape[:-1], wrong)} = [{', '.join(map(str, tuples[wrong]))}]"
        raise InvalidArgument(f"{where} does not index into shape {shape_text(target.shape)}")


def _check_slices_of_variable(shape: tuple[int, ...], indices: Array, updates: Array) -> int:
    """The length of an index tuple; of a vector it is one, and the kernel then takes the first number only.

    Raises: InvalidArgument when shapes do not fit.  Source: ValidateUpdateShape in TensorFlow's core/kernels/scatter_nd_op.cc.
    """
    if indices.ndim == 0 or not shape:
        raise InvalidArgument(f"{'Indices' if indices.ndim == 0 else 'Output'} shape must have rank at least one.")
    n_outer, depth = (indices.ndim - 1, indices.shape[-1]) if indices.ndim > 1 else (1, 1)
    texts = [f"[shape={shape_text(x)}]" for x in (shape, indices.shape, updates.shape)]
    if indices.shape[:n_outer] != updates.shape[:n_outer]:
        first, second = (str(x.shape[0]) if x.ndim else "[]" for x in (indices, updates))
        part = f"[0,{n_outer})"
        raise InvalidArgument(
            f"Dimensions {part} of indices{texts[1]} = {first} must match dimensions {part} of updates{texts[2]} = {second}"
        )
    if updates.ndim - n_outer != len(shape) - depth or shape[depth:] != updates.shape[n_outer:]:
        parts = f"[{depth},{len(shape)})", f"[{depth},{updates.ndim})"
        raise InvalidArgument(f"Dimensions {parts[0]} of input{texts[0]} must match dimensions {parts[1]} of updates{texts[2]}")
    return depth


def _check_slices(shape: tuple[int, ...], indices: Array, updates: Array) -> int:
    """The length of an index tuple. Raises: InvalidArgument when shapes do not fit."""
    if indices.ndim == 0 or not shape:
        raise InvalidArgument(f"{'Indices' if indices.ndim == 0 else 'Output'} shape must have rank at least one.")
    n_outer, depth = indices.ndim - 1, indices.shape[-1]
    if depth > len(shape):
        raise InvalidArgument(f"The inner {depth} dimensions of indices do not index into shape {shape_text(shape)}")
    outer = (indices.shape[:-1], updates.shape[:n_outer], f"[0,{n_outer}) of indices", indices.shape, f"[0,{n_outer})")
    inner = (shape[depth:], updates.shape[n_outer:], f"[{depth},{len(shape)}) of input", shape,
             f"[{n_outer},{updates.ndim})")  # fmt: skip
    for mine, theirs, text, whole, part in (outer, inner):
        if mine != theirs:
            raise InvalidArgument(
                f"Dimensions {text}[shape={shape_text(whole)}] must match "
                f"dimensions {part} of updates[shape={shape_text(updates.shape)}]"
            )
    return depth


def _named_shape(indices: Spec, updates: Spec, shape: Spec, /, **attrs: Any) -> Shape:
    extents = constant_ints(shape)
    if extents is not None:
        return extents
    return (None,) * (shape.shape[0] or 0) if shape.shape and shape.shape[0] is not None else None


@kernel("ScatterNd", unit="vector", shape=_named_shape, dtypes={"T": dt.ALL, "Tindices": dt.INDICES},
        estimate=per_input_element(1, index=1),
        ranks={"shape": 1})  # fmt: skip
def scatter_nd(indices: Array, updates: Array, shape: Array, /, *, out: Array | None = None) -> Array:
    """Zeros of a shape with updates added to the slices that index tuples name.

    Raises: InvalidArgument for a tuple outside the shape.  Source: TensorFlow op `ScatterNd`.
    """
    made = np.empty(tuple(int(n) for n in shape), updates.dtype) if out is None else out
    made[...] = 0
    if indices.size or updates.size:
        _scatter_slices(COMBINES["Add"][0], made, indices, updates, _check_slices(made.shape, indices, updates))
    return made


for _name, (_combine, _dtypes) in COMBINES.items():
    _register_rows(_name, _combine, _dtypes)
    if _name not in ("Mul", "Div"):
        _register_slices(_name, _combine, _dtypes)
