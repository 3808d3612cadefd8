"""The driver of optimizers: a formula is checked once, then run in place, in cache-sized tiles over the worker threads."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.device.variable import Variable
from npu_runtime.errors import Internal, InvalidArgument
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.native.compiled import Loop
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads import row_indexing
from npu_runtime.kernels.threads.parallel import parallel_ranges

Formula = Callable[..., Any]
"""formula(var, *slots, ..., /, *, attributes): changes var and slots in place; scalars come as () arrays of their dtype."""

TILE = 196608
"""Elements of a tile: 768 KB of fp32 an array. Smaller tiles fit a nearer cache, but threads then wait for each other between
ufuncs."""
SERIAL_FLOPS = 800_000
"""Floating-point operations up to which a second thread saves nothing: some 120 us of one thread, and waking it takes 40 us."""
Made = Callable[[int, int], np.ndarray]
"""made(start, stop) gives these elements of a gradient, valid until the thread's next call."""
POSITIVE, NOT_NEGATIVE, NOT_POSITIVE = "positive", "non-negative", "non-positive"
"""Conditions that TensorFlow puts on some scalars."""
_HOLDS: dict[str, Callable[[Any], Any]] = {
    POSITIVE: lambda x: x > 0, NOT_NEGATIVE: lambda x: x >= 0, NOT_POSITIVE: lambda x: x <= 0,
}  # fmt: skip
Bounds = Mapping[str, str]
PENALTIES = {"l1": "l1 regularization", "l2": "l2 regularization", "l2_shrinkage": "l2 shrinkage regularization"}


def dense(
    name: str, n_slots: int, flops: float, dtypes: frozenset[str] = dt.FLOATS, ref: bool = True, bounds: Bounds | None = None,
    is_made: bool = False, loop: Loop | None = None,
) -> Callable[[Formula], Formula]:  # fmt: skip
    """Register a formula as kernels `Apply<name>` (where TensorFlow has one) and `ResourceApply<name>`.

    is_made: a pass makes the op, whose name is `name` itself.  loop: the same formula as one pass over arrays of fp32.

    The formula's parameters are the op's inputs in order: var, n_slots slots, then scalars and the gradient.
    flops: floating-point operations an element.  bounds: of scalars, by name.
    """

    def register(formula: Formula) -> Formula:
        layout = _Layout(formula, n_slots, bounds or {})
        n_serial = int(SERIAL_FLOPS / flops)
        update = formula if loop is None else _in_one_pass(formula, loop, layout)

        @functools.wraps(formula)
        def apply(*inputs: Any, **attrs: Any) -> Variable | tuple[()]:
            layout.check(inputs, inputs[layout.grad].shape, attrs)
            arguments = layout.arguments(inputs)
            if arguments[0].size > n_serial:
                _update_all(layout, update, arguments, attrs)
            elif arguments[0].ndim:
                update(*arguments, **attrs)
            else:
                update(*[x.reshape(1) if i in layout.tiled else x for i, x in enumerate(arguments)], **attrs)
            return variable_access.result(inputs[0])

        names = [name] if is_made else _names(name, "Apply", ref)
        _register(apply, names, layout, flops, dtypes)
        DENSE.update(dict.fromkeys(names, Dense(layout, update, flops)))
        return formula

    return register


def _in_one_pass(formula: Formula, loop: Loop, layout: _Layout) -> Formula:
    """The formula by a loop wherever that is ready and the arrays are of fp32 and contiguous."""
    settings = {name: p.default for name, p in inspect.signature(formula).parameters.items() if p.kind is p.KEYWORD_ONLY}
    tiled = frozenset(layout.tiled)

    def update(*arguments: Any, **attrs: Any) -> None:
        if loop.is_ready and arguments[0].dtype == np.float32 and all(arguments[i].flags.c_contiguous for i in tiled):
            given = [x.reshape(-1) if i in tiled else x[()] for i, x in enumerate(arguments)]
            if loop(*given, *(settings | attrs).values()):
                return
        formula(*arguments, **attrs)

    return update


@dataclass(frozen=True)
class Dense:
    """An op registered by `dense`.  flops: floating-point operations an element."""

    layout: _Layout
    formula: Formula
    flops: float

    def run(
        self, inputs: Sequence[Any], attrs: Mapping[str, Any], shape: tuple[int, ...], made: Made, flops: float, row: int = 1
    ) -> None:  # fmt: skip
        """The update with a gradient of some shape that is made tile by tile, by `flops` operations an element.

        inputs: the op's, with anything in the place of the gradient.  row: so many elements are made together.
        Raises: as the op.
        """
        self.layout.check(inputs, shape, attrs)
        serial = int(SERIAL_FLOPS / (self.flops + flops))
        _update_all(self.layout, self.formula, self.layout.arguments(inputs), attrs, serial, made, row)


DENSE: dict[str, Dense] = {}
"""The dense update that each op of an optimizer makes, by the name of the op."""


def sparse(
    name: str, n_slots: int, flops: float, dtypes: frozenset[str] = dt.FLOATS, ref: bool = True, bounds: Bounds | None = None,
    looks_first: bool = False,
) -> Callable[[Formula], Formula]:  # fmt: skip
    """Register a formula as kernels `SparseApply<name>` and `ResourceSparseApply<name>`.

    The same formulas as for `dense`, on the rows that `indices` name. A row named twice is updated twice, in order.
    looks_first: whether TensorFlow looks at all indices before it changes a row; else the rows before a wrong one are changed.
    Source: TensorFlow's SparseApply kernels walk through the indices one by one.
    """

    def register(formula: Formula) -> Formula:
        layout = _Layout(formula, n_slots, bounds or {})

        @functools.wraps(formula)
        def apply(*inputs: Any, **attrs: Any) -> Variable | tuple[()]:
            layout.check(inputs, inputs[layout.grad].shape, attrs)
            indices, n_rows = inputs[layout.indices], inputs[0].read().shape[0]
            n_inside = row_indexing.n_inside(indices, n_rows)
            if n_inside == indices.size or not looks_first:
                for rows, chosen in rounds(indices[:n_inside]):
                    _update_rows(layout, formula, inputs, attrs, rows, chosen)
            if n_inside < indices.size:
                raise InvalidArgument(f"Index {indices[n_inside]} at offset {n_inside} in indices is out of range")
            return variable_access.result(inputs[0])

        _register(apply, _names(name, "SparseApply", ref), layout, flops, dtypes)
        return formula

    return register


def _names(name: str, prefix: str, ref: bool) -> list[str]:
    """The resource op and the ref op."""
    return [f"Resource{prefix}{name}", *([f"{prefix}{name}"] if ref else [])]


def _register(apply: Formula, names: Sequence[str], layout: _Layout, flops: float, dtypes: frozenset[str]) -> None:
    """Register ops; one that begins as TensorFlow's ops of ref variables do returns the variable."""
    fixed: dict[str, Any] = {"unit": "vector", "dtypes": dtypes, "ignores": ("use_locking",)}
    estimate = per_input_element(flops, layout.grad)
    for name in names:
        is_ref = name.startswith(("Apply", "SparseApply"))
        kernel(name, shape=same_as(0) if is_ref else variable_access.no_outputs, estimate=estimate, **fixed)(apply)


class _Layout:
    """The roles of an op's inputs, read off the formula's parameters."""

    def __init__(self, formula: Formula, n_slots: int, bounds: Bounds) -> None:
        parameters = inspect.signature(formula).parameters.values()
        self.names = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
        self.n_variables = 1 + n_slots
        self.grad = next(i for i, name in enumerate(self.names) if name in ("grad", "delta"))
        self.indices = self.names.index("indices") if "indices" in self.names else -1
        self.tiled = (*range(self.n_variables), self.grad)
        self.bounds = bounds
        self.scalars = [i for i in range(self.n_variables, len(self.names)) if i not in (self.grad, self.indices)]

    def check(self, inputs: Sequence[Any], grad_shape: tuple[int, ...], attrs: Mapping[str, Any]) -> None:
        """Raises: FailedPrecondition (ref) or Internal (resource) for a missing value, InvalidArgument for what does not fit."""
        self.check_scalars([inputs[i] for i in self.scalars], attrs)
        shape, *others = [_value(variable).shape for variable in inputs[: self.n_variables]]
        for i, other in enumerate(others, 1):
            self._require_same(shape, other, i)
        if self.indices < 0:
            self._require_same(shape, grad_shape, self.grad)
        else:
            _check_rows(shape, inputs[self.grad], inputs[self.indices])

    def check_scalars(self, scalars: Sequence[Any], attrs: Mapping[str, Any]) -> None:
        """Raises: InvalidArgument for one that does not fit.  scalars: all of them, in order."""
        for i, given in zip(self.scalars, scalars, strict=True):
            if given.ndim or self.names[i] in self.bounds:
                self._check_scalar(self.names[i], given, attrs)

    def _check_scalar(self, name: str, given: np.ndarray, attrs: Mapping[str, Any]) -> None:
        title = f"{PENALTIES[name]} strength" if name in PENALTIES else name
        if given.ndim:
            raise InvalidArgument(f"{title} is not a scalar: {variable_access.shape_text(given.shape)}")
        may_be_zero = name == "lr" and not given and attrs.get("multiply_linear_by_lr", False)
        if name in self.bounds and not may_be_zero and not _HOLDS[self.bounds[name]](given):
            raise InvalidArgument(f"{title} is not a {self.bounds[name]} scalar: {given}")

    def _require_same(self, shape: tuple[int, ...], other: tuple[int, ...], index: int) -> None:
        if shape != other:
            both = f"{variable_access.shape_text(shape)} {variable_access.shape_text(other)}"
            raise InvalidArgument(f"var and {self.names[index]} do not have the same shape{both}")

    def arguments(self, inputs: Sequence[Any]) -> list[Any]:
        """The formula's arguments: writable arrays, the gradient, scalars."""
        return [v.writable() for v in inputs[: self.n_variables]] + list(inputs[self.n_variables :])


def _value(variable: Variable) -> np.ndarray:
    """Source: PrepareToUpdateVariable's callers in TensorFlow's core/kernels/training_op_helpers.h, for the resource."""
    if not variable.is_ref and not variable.is_initialized:
        raise Internal(f"Invalid variable reference.\n\t {variable.name} has no value yet: run its initializer first")
    return variable.read()


def _check_rows(shape: tuple[int, ...], grad: np.ndarray, indices: np.ndarray) -> None:
    if not shape:
        raise InvalidArgument("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise InvalidArgument("indices must be one-dimensional")
    for axis in range(1, len(shape)):
        if axis >= grad.ndim or grad.shape[axis] != shape[axis]:
            raise InvalidArgument(f"var and grad must match in dimension {axis}")
    if not grad.ndim or grad.shape[0] != indices.size:
        raise InvalidArgument("grad must be the same size as indices in the first dimension.")
    if 0 in shape[1:]:
        raise InvalidArgument("Inner dimension should be greater than zero.")


def _update_all(
    layout: _Layout, formula: Formula, arguments: list[Any], attrs: Mapping[str, Any], serial: int = 0, made: Made | None = None,
    row: int = 1,
) -> None:  # fmt: skip
    """Updates in tiles over the worker threads if there are more than `serial` elements.

    made: the gradient, else it is an argument.  row: a tile is a multiple of so many elements.
    """
    whole = [(i, arguments[i].reshape(-1)) for i in layout.tiled if made is None or i != layout.grad]

    def work(first: int, last: int) -> None:
        start, stop = first * row, last * row
        piece = arguments.copy()
        for i, array in whole:
            piece[i] = array[start:stop]
        if made is not None:
            piece[layout.grad] = made(start, stop)
        formula(*piece, **attrs)

    size = arguments[0].size
    tile = size if size <= serial else min(TILE, -(-size // 2))
    parallel_ranges(size // row, work, max(tile // row, 1))


def _update_rows(
    layout: _Layout, formula: Formula, inputs: Sequence[Any], attrs: dict[str, Any], rows: np.ndarray, chosen: np.ndarray
) -> None:
    arguments = layout.arguments(inputs)
    step = max(1, TILE * arguments[0].shape[0] // max(arguments[0].size, 1))

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, step):
            part = slice(first, min(first + step, stop))
            piece = list(arguments)
            for i in range(layout.n_variables):
                piece[i] = arguments[i][rows[part]]
            piece[layout.grad], piece[layout.indices] = arguments[layout.grad][chosen[part]], rows[part]
            formula(*piece, **attrs)
            for i in range(layout.n_variables):
                arguments[i][rows[part]] = piece[i]

    parallel_ranges(rows.size, work, step)


def rounds(indices: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Groups of (index, position) with no index twice in a group; the k-th group has the k-th occurrence of each.

    Applying the groups one after the other is the same as applying the positions one after the other.
    """
    if indices.size == 0:
        return []
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    if is_first.all():
        return [(ordered, order)]
    firsts = np.flatnonzero(is_first)
    occurrence = np.arange(indices.size) - np.repeat(firsts, np.diff(np.append(firsts, indices.size)))
    by_round = np.argsort(occurrence, kind="stable")
    cuts = np.cumsum(np.bincount(occurrence))[:-1]
    return list(zip(np.split(ordered[by_round], cuts), np.split(order[by_round], cuts), strict=True))
