"""Primitives as functions, under the names of r1.1."""

from __future__ import annotations

import functools
from typing import Any

from mindspore.common.dtype import Type
from mindspore.common.tensor import Tensor
from mindspore.ops import operations as P

cast, dtype, fill, tile, select, size = P.Cast(), P.DType(), P.Fill(), P.Tile(), P.Select(), P.Size()
ones_like, zeros_like, shape, rank, reshape = P.OnesLike(), P.ZerosLike(), P.Shape(), P.Rank(), P.Reshape()
control_depend, depend, addn, square, sqrt = P.ControlDepend(), P.Depend(), P.AddN(), P.Square(), P.Sqrt()
tensor_add, tensor_sub, tensor_mul, tensor_div, neg_tensor = P.TensorAdd(), P.Sub(), P.Mul(), P.RealDiv(), P.Neg()
tensor_lt, tensor_le, tensor_gt, tensor_ge = P.Less(), P.LessEqual(), P.Greater(), P.GreaterEqual()
tensor_floordiv, tensor_pow, tensor_mod, equal, not_equal = P.FloorDiv(), P.Pow(), P.FloorMod(), P.Equal(), P.NotEqual()
strided_slice, same_type_shape, expand_dims = P.StridedSlice(), P.SameTypeShape(), P.ExpandDims()
assign, assign_add, assign_sub = P.Assign(), P.AssignAdd(), P.AssignSub()
scalar_to_array, scalar_to_tensor, tuple_to_array = P.ScalarToArray(), P.ScalarToTensor(), P.TupleToArray()
scalar_cast, print_ = P.ScalarCast(), P.Print()
scatter_nd, gather, gather_nd, pack = P.ScatterNd(), P.GatherV2(), P.GatherNd(), P.Pack()
scatter_update, scatter_nd_update = P.ScatterUpdate(), P.ScatterNdUpdate()
logical_and, logical_or, logical_not = P.LogicalAnd(), P.LogicalOr(), P.LogicalNot()
stop_gradient, issubclass_, isinstance_ = P.StopGradient(), P.IsSubClass(), P.IsInstance()
identity = P.identity()
partial = functools.partial


def typeof(x: Any) -> Any:
    """The type of a tensor's numbers, or the class of a value."""
    return x.dtype if isinstance(x, Tensor) else type(x)


def hastype(x: Any, kind: Any) -> bool:
    """Whether a value is of a type."""
    return bool(typeof(x) is kind if isinstance(kind, Type) else isinstance(x, kind))


def make_tuple(*values: Any) -> tuple[Any, ...]:
    """A tuple."""
    return values


def make_list(*values: Any) -> list[Any]:
    """A list."""
    return list(values)


def make_range(*limits: int) -> tuple[int, ...]:
    """The whole numbers of a range, as a tuple."""
    return tuple(range(*limits))


def tuple_len(x: Any) -> int:
    """The length of a tuple."""
    return len(x)


list_len = tuple_len


def tuple_getitem(x: Any, index: int) -> Any:
    """An element of a tuple."""
    return x[index]


list_getitem = tuple_getitem


def array_to_scalar(x: Any) -> Any:
    """The number of a tensor with one element."""
    return x.asnumpy().item()


def mixed_precision_cast(dst_type: Any, x: Any) -> Any:
    """Floating tensors in a type, also within tuples; all else as it is."""
    if isinstance(x, (tuple, list)):
        return tuple(mixed_precision_cast(dst_type, one) for one in x)
    return cast(x, dst_type) if isinstance(x, Tensor) and x.dtype.is_floating else x


__all__ = [
    "addn", "array_to_scalar", "assign", "assign_add", "assign_sub", "cast", "control_depend", "depend", "dtype", "equal",
    "expand_dims", "fill", "gather", "gather_nd", "hastype", "identity", "isinstance_", "issubclass_", "list_getitem", "list_len",
    "logical_and", "logical_not", "logical_or", "make_list", "make_range", "make_tuple", "mixed_precision_cast", "neg_tensor",
    "not_equal", "ones_like", "pack", "partial", "print_", "rank", "reshape", "same_type_shape", "scalar_cast", "scalar_to_array",
    "scalar_to_tensor", "scatter_nd", "scatter_nd_update", "scatter_update", "select", "shape", "size", "sqrt", "square",
    "stop_gradient", "strided_slice", "tensor_add", "tensor_div", "tensor_floordiv", "tensor_ge", "tensor_gt", "tensor_le",
    "tensor_lt", "tensor_mod", "tensor_mul", "tensor_pow", "tensor_sub", "tile", "tuple_getitem", "tuple_len", "tuple_to_array",
    "typeof", "zeros_like",
]  # fmt: skip
