"""Einstein sums of one or two tensors, brought to one batched matrix product."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.algorithm_choice import is_tuned
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.linalg.batch_matmul import multiply_batch
from npu_runtime.kernels.linalg.einsum_plan import Labels, ProductPlan, planned
from npu_runtime.kernels.shapes import broadcast_pair
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray


@dataclass(frozen=True)
class Equation:
    """Labels of each operand and of the result; the axes that an ellipsis stands for are "...0", "...1" from the right."""

    inputs: tuple[Labels, ...]
    output: Labels


def parse(equation: str, ranks: Sequence[int]) -> Equation:
    """Raises: InvalidArgument when the equation does not fit the operands."""
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise InvalidArgument(f"Expected {len(terms)} inputs but got: {len(ranks)}")
    inputs = tuple(_labels(term, rank, index) for index, (term, rank) in enumerate(zip(terms, ranks, strict=True)))
    n_broadcast = max((sum(name.startswith(".") for name in names) for names in inputs), default=0)
    output = _labels(right, len(right.replace("...", "")) + (n_broadcast if "..." in right else 0), len(ranks))
    return Equation(inputs, output)


def _labels(term: str, rank: int, index: int) -> Labels:
    before, dots, after = term.partition("...")
    n_hidden = rank - len(before) - len(after)
    if n_hidden < 0 or (n_hidden and not dots):
        raise InvalidArgument(f"Expected input {index} to have rank {len(before) + len(after)} but got: {rank}")
    hidden = tuple(f"...{n}" for n in reversed(range(n_hidden)))
    return (*before, *hidden, *after)


def _extents(equation: Equation, shapes: Sequence[Sequence[int | None]]) -> dict[str, int | None]:
    """Extent by label; those of an ellipsis broadcast. Raises: InvalidArgument when two differ."""
    found: dict[str, int | None] = {}
    for names, shape in zip(equation.inputs, shapes, strict=True):
        for name, extent in zip(names, shape, strict=True):
            known = found.get(name)
            if name.startswith(".") and name in found:
                found[name] = (broadcast_pair((known,), (extent,)) or (None,))[0]
            elif known is not None and extent is not None and known != extent:
                raise InvalidArgument(f"Expected dimension {known} at axis {names.index(name)} of the input shaped "
                                      f"{shape_text(shape)} but got dimension {extent}")  # fmt: skip
            else:
                found[name] = extent if known is None else known
    return found


def _shape(*inputs: Spec, equation: str) -> Shape:
    shapes = [spec.shape for spec in inputs if spec.shape is not None]
    if len(shapes) != len(inputs):
        return None
    parsed = parse(equation, [len(shape) for shape in shapes])
    extents = _extents(parsed, shapes)
    return tuple(extents[name] for name in parsed.output)


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Two for every combination of labels, one for a single operand."""
    shapes = [spec.known_shape() for spec in inputs]
    extents = _extents(parse(attrs["equation"], [len(shape) for shape in shapes]), shapes)
    return float(len(inputs) * math.prod(n for n in extents.values() if n is not None))


def _refuse(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """More than two operands, as TensorFlow's kernel."""
    return f"an Einsum of {len(specs)} operands" if len(specs) > 2 else None


@lru_cache(1024)
def _plan(equation: str, shapes: tuple[tuple[int, ...], ...], is_tuned: bool) -> ProductPlan | None:
    """The plan of an Einsum of fp32.  is_tuned: see `algorithm_choice.is_tuned`.  Raises: as the op."""
    parsed = parse(equation, [len(shape) for shape in shapes])
    extents = {name: int(n or 0) for name, n in _extents(parsed, shapes).items()}
    return planned(parsed.inputs, parsed.output, extents)


def _small(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: the plan is made once."""
    if outputs[0].dtype != "float32":
        return None
    plan = _plan(attrs["equation"], tuple(spec.known_shape() for spec in inputs), is_tuned())
    return None if plan is None else plan.run


@kernel("Einsum", unit="cube", shape=_shape, dtypes=dt.FLOATS | dt.INDICES, estimate=_flops, refuse=_refuse, small=_small)
def einsum(*inputs: Array, equation: str, out: Array | None = None) -> Array:
    """Sum of products over the labels that the result does not name.

    inputs: one or two.  equation: as numpy's, an ellipsis broadcasts, a repeated label is a diagonal.
    16-bit floats are summed in fp32.  Raises: InvalidArgument when ranks or extents do not fit.
    Source: TensorFlow op `Einsum`.
    """
    plan = _plan(equation, tuple(x.shape for x in inputs), is_tuned()) if inputs[0].dtype == np.float32 else None
    if plan is not None:
        return plan.run(inputs[0], inputs[1], out)
    parsed = parse(equation, [x.ndim for x in inputs])
    extents = {name: int(n or 0) for name, n in _extents(parsed, [x.shape for x in inputs]).items()}
    wanted = tuple(dict.fromkeys(parsed.output))
    operands = [_diagonal(widen(x), names) for x, names in zip(inputs, parsed.inputs, strict=True)]
    others = [set(names) for _, names in operands[::-1]] if len(operands) == 2 else [set()]
    reduced = [_sum_out(x, names, other | set(wanted)) for (x, names), other in zip(operands, others, strict=True)]
    made, names = reduced[0] if len(reduced) == 1 else _product(reduced[0], reduced[1], wanted)
    made = made.transpose([names.index(name) for name in wanted])
    return store(_inflate(made, wanted, parsed.output, extents), inputs[0].dtype, out)


def _diagonal(x: Array, names: Labels) -> tuple[Array, Labels]:
    """Each label once: a repeated one takes the diagonal."""
    for name, count in Counter(names).items():
        for _ in range(count - 1):
            first, second = [axis for axis, other in enumerate(names) if other == name][:2]
            x = np.diagonal(x, axis1=first, axis2=second)
            names = (*[n for axis, n in enumerate(names) if axis not in (first, second)], name)
    return x, names


def _sum_out(x: Array, names: Labels, needed: set[str]) -> tuple[Array, Labels]:
    """The operand without the axes that nobody else needs."""
    axes = tuple(axis for axis, name in enumerate(names) if name not in needed)
    if not axes:
        return x, names
    return x.sum(axis=axes, dtype=x.dtype), tuple(name for name in names if name in needed)


def _product(left: tuple[Array, Labels], right: tuple[Array, Labels], wanted: Labels) -> tuple[Array, Labels]:
    """Batch labels in front, then those of one operand alone, then those of the other.

    They are ordered such that the largest of operands and result is not transposed, which would be the longest copy.
    """
    batch = tuple(name for name in wanted if (name in left[1] and name in right[1]) or name.startswith("."))
    is_result_largest = _n_made(left, right, wanted) > max(left[0].size, right[0].size)
    first = next((name for name in wanted if name not in batch), "")
    (a, a_names), (b, b_names) = (right, left) if is_result_largest and first in right[1] else (left, right)
    inner = tuple(
        name for name in (a_names if a.size > b.size else b_names) if name in a_names and name in b_names and name not in wanted
    )
    free_a, free_b = (
        tuple(name for name in (wanted if is_result_largest else names) if name in names and name not in (*batch, *inner))
        for names in (a_names, b_names)
    )
    x, y = _arranged(a, a_names, batch, free_a, inner), _arranged(b, b_names, batch, inner, free_b)
    shape_a, shape_b = _sizes(a, a_names, free_a), _sizes(b, b_names, free_b)
    n_batch = len(batch)
    if x.shape[-1] != y.shape[-2]:  # an ellipsis that is summed over, of extent 1 in one operand
        return _summed_product(a, a_names, b, b_names, (*batch, *free_a, *free_b))
    leading = tuple(int(n or 0) for n in broadcast_pair(x.shape[:n_batch], y.shape[:n_batch]) or ())
    made = multiply_batch(x, y, np.empty((*leading, x.shape[-2], y.shape[-1]), x.dtype))
    return made.reshape((*leading, *shape_a, *shape_b)), (*batch, *free_a, *free_b)


def _n_made(left: tuple[Array, Labels], right: tuple[Array, Labels], wanted: Labels) -> int:
    """The number of elements of the result."""
    extents: dict[str, int] = {}
    for x, names in (left, right):
        extents |= {name: max(extent, extents.get(name, 0)) for name, extent in zip(names, x.shape, strict=True)}
    return math.prod(extents[name] for name in wanted)


def _sizes(x: Array, names: Labels, chosen: Labels) -> tuple[int, ...]:
    return tuple(x.shape[names.index(name)] for name in chosen)


def _arranged(x: Array, names: Labels, batch: Labels, rows: Labels, columns: Labels) -> Array:
    """(batch ..., product of rows, product of columns); a batch label that is missing has extent 1.

    BLAS takes a matrix by rows or by columns, so that an operand which has its columns in front is not copied.
    """
    leading = tuple(x.shape[names.index(name)] if name in names else 1 for name in batch)
    n_rows, n_columns = math.prod(_sizes(x, names, rows)), math.prod(_sizes(x, names, columns))
    order, turned = ([names.index(n) for n in (*batch, *both) if n in names] for both in (rows + columns, columns + rows))
    if turned == sorted(turned) != order:
        return x.reshape(*leading, n_columns, n_rows).swapaxes(-1, -2)
    return x.transpose(order).reshape(*leading, n_rows, n_columns)


def _summed_product(a: Array, a_names: Labels, b: Array, b_names: Labels, wanted: Labels) -> tuple[Array, Labels]:
    """The product by numpy, which repeats extents of 1."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys((*a_names, *b_names)))}
    made = np.einsum(a, [numbers[n] for n in a_names], b, [numbers[n] for n in b_names], [numbers[n] for n in wanted])
    return np.asarray(made), wanted


def _inflate(x: Array, names: Labels, wanted: Labels, extents: dict[str, int]) -> Array:
    """A label that the result repeats: values on its diagonal, zeros elsewhere."""
    x = np.broadcast_to(x, tuple(extents[name] for name in names))
    if names == wanted:
        return np.ascontiguousarray(x) if x.ndim else np.asarray(x)
    made = np.zeros(tuple(extents[name] for name in wanted), x.dtype)
    steps = [sum(made.strides[axis] for axis, other in enumerate(wanted) if other == name) for name in names]
    view = np.lib.stride_tricks.as_strided(made, x.shape, steps)
    view[...] = x
    return made
