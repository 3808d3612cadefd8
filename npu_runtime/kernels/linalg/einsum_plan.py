"""The product of an Einsum of two fp32 operands, planned once for its labels and extents: how each is turned and multiplied.

Finding that out takes several times as long as a small product, and is the same in every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.linalg.batch_matmul import multiply_batch, small_batch_product
from npu_runtime.kernels.linalg.matmul import small_product

Array = np.ndarray
Labels = tuple[str, ...]
"""One name an axis."""
Shape = tuple[int, ...]


class ProductPlan:
    """An Einsum that is one product of matrices, or of stacks of them, for operands of fixed shapes.

    `run` gives the result.  Operands are swapped where the product then has the order of the result.
    """

    def __init__(self, names: tuple[Labels, Labels], wanted: Labels, extents: Mapping[str, int]) -> None:
        first, second = set(names[0]), set(names[1])
        batch = tuple(name for name in wanted if name in first and name in second)
        largest = max(names[::-1], key=lambda own: math.prod(extents[name] for name in own))  # its copy would take the longest
        inner = tuple(name for name in largest if name in first and name in second and name not in wanted)
        free = [tuple(name for name in wanted if name in own and name not in batch) for own in (first, second)]
        self._is_swapped = (*batch, *free[1], *free[0]) == wanted
        left, right = (1, 0) if self._is_swapped else (0, 1)
        made = (*batch, *free[left], *free[right])
        rows, columns, count = ([extents[name] for name in part] for part in (free[left], free[right], inner))
        leading = tuple(extents[name] for name in batch)
        m, n, k = math.prod(rows), math.prod(columns), math.prod(count)
        self._left = _arranged(names[left], (*batch, *free[left], *inner), (*leading, m, k))
        self._right = _arranged(names[right], (*batch, *inner, *free[right]), (*leading, k, n))
        self._product = (*leading, m, n)
        self._made = tuple(extents[name] for name in made)
        self._shape = tuple(extents[name] for name in wanted)
        self._turned = None if made == wanted else tuple(made.index(name) for name in wanted)
        self._multiply = _way((*leading, m, k), (*leading, k, n), self._product)

    def run(self, a: Array, b: Array, out: Array | None = None) -> Array:
        """The result, in `out` if that is given.  a, b, out: fp32 of the shapes of the plan."""
        x, y = (self._left(b), self._right(a)) if self._is_swapped else (self._left(a), self._right(b))
        if self._turned is None:
            made = out if out is not None and out.flags.c_contiguous else np.empty(self._shape, np.float32)
            self._multiply(x, y, made.reshape(self._product))
        else:
            product = np.empty(self._product, np.float32)
            made = self._multiply(x, y, product).reshape(self._made).transpose(self._turned)
        if out is None:
            return np.ascontiguousarray(made) if made.ndim else made
        if made is not out:
            np.copyto(out, made)
        return out


def _arranged(names: Labels, order: Labels, shape: Shape) -> Callable[[Array], Array]:
    """The operand as a stack of matrices."""
    axes = tuple(names.index(name) for name in order)
    if axes == tuple(range(len(axes))):
        return lambda x: x.reshape(shape)
    return lambda x: x.transpose(axes).reshape(shape)


def _way(left: Shape, right: Shape, product: Shape) -> Callable[[Array, Array, Array], Array]:
    """The function that multiplies stacks of these shapes: without another look at them where they are small."""
    specs, results = [Spec(left, "float32"), Spec(right, "float32")], [Spec(product, "float32")]
    small = small_product if len(product) == 2 else small_batch_product
    return small(specs, results, {}, True) or multiply_batch


def planned(names: Sequence[Labels], wanted: Labels, extents: Mapping[str, int]) -> ProductPlan | None:
    """The plan of an Einsum; None where it is more than one product: a diagonal, a sum of one operand, axes that repeat."""
    if len(names) != 2:
        return None
    (first, second), result = names, set(wanted)
    is_plain = all(len(set(part)) == len(part) for part in (first, second, wanted)) and not _has_ellipsis((*first, *second))
    if not is_plain or not result <= {*first, *second} or not {*first} ^ {*second} <= result:
        return None
    if len(result & {*first, *second}) == 0 or 0 in extents.values():
        return None
    return ProductPlan((first, second), wanted, extents)


def _has_ellipsis(names: Labels) -> bool:
    return any(name.startswith(".") for name in names)
