"""Primitives as functions, under the names of r1.1."""

from __future__ import annotations

import functools
import math
import operator
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
scalar_add, scalar_sub, scalar_mul, scalar_div = operator.add, operator.sub, operator.mul, operator.truediv
scalar_floordiv, scalar_mod, scalar_pow, scalar_log = operator.floordiv, operator.mod, operator.pow, math.log
scalar_eq, scalar_ne, scalar_lt, scalar_le = operator.eq, operator.ne, operator.lt, operator.le
scalar_gt, scalar_ge, scalar_uadd, scalar_usub = operator.gt, operator.ge, operator.pos, operator.neg
bool_not, bool_eq, is_, is_not = operator.not_, operator.eq, operator.is_, operator.is_not
string_eq, string_concat, tuple_equal, list_equal = operator.eq, operator.add, operator.eq, operator.eq
make_slice, dict_getitem = slice, operator.getitem


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


def tuple_setitem(x: Any, index: int, value: Any) -> tuple[Any, ...]:
    """The tuple with another element."""
    return (*x[:index], value, *x[index:][1:])


def list_setitem(x: Any, index: int, value: Any) -> list[Any]:
    """The list with another element."""
    return [*tuple_setitem(tuple(x), index, value)]


def tuple_reversed(x: Any) -> tuple[Any, ...]:
    """The tuple from its end on."""
    return tuple(reversed(x))


def bool_and(x: Any, y: Any) -> bool:
    """Whether both are true."""
    return bool(x) and bool(y)


def bool_or(x: Any, y: Any) -> bool:
    """Whether one of two is true."""
    return bool(x) or bool(y)


def in_dict(key: Any, x: dict[Any, Any]) -> bool:
    """Whether a dictionary has a key."""
    return key in x


def not_in_dict(key: Any, x: dict[Any, Any]) -> bool:
    """Whether a dictionary has not got a key."""
    return key not in x


def shape_mul(x: Any) -> int:
    """The product of extents."""
    return math.prod(x)


def array_to_scalar(x: Any) -> Any:
    """The number of a tensor with one element."""
    return x.asnumpy().item()


def mixed_precision_cast(dst_type: Any, x: Any) -> Any:
    """Floating tensors in a type, also within tuples; all else as it is."""
    if isinstance(x, (tuple, list)):
        return tuple(mixed_precision_cast(dst_type, one) for one in x)
    return cast(x, dst_type) if isinstance(x, Tensor) and x.dtype.is_floating else x


__all__ = [
    "addn", "array_to_scalar", "assign", "assign_add", "assign_sub", "bool_and", "bool_eq", "bool_not", "bool_or", "cast",
    "control_depend", "depend", "dict_getitem", "dtype", "equal", "expand_dims", "fill", "gather", "gather_nd", "hastype",
    "identity", "in_dict", "is_", "is_not", "isinstance_", "issubclass_", "list_equal", "list_getitem", "list_len",
    "list_setitem", "logical_and", "logical_not", "logical_or", "make_list", "make_range", "make_slice", "make_tuple",
    "mixed_precision_cast", "neg_tensor", "not_equal", "not_in_dict", "ones_like", "pack", "partial", "print_", "rank",
    "reshape", "same_type_shape", "scalar_add", "scalar_cast", "scalar_div", "scalar_eq", "scalar_floordiv", "scalar_ge",
    "scalar_gt", "scalar_le", "scalar_log", "scalar_lt", "scalar_mod", "scalar_mul", "scalar_ne", "scalar_pow",
    "scalar_sub", "scalar_to_array", "scalar_to_tensor", "scalar_uadd", "scalar_usub", "scatter_nd", "scatter_nd_update",
    "scatter_update", "select", "shape", "shape_mul", "size", "sqrt", "square", "stop_gradient", "strided_slice",
    "string_concat", "string_eq", "tensor_add", "tensor_div", "tensor_floordiv", "tensor_ge", "tensor_gt", "tensor_le",
    "tensor_lt", "tensor_mod", "tensor_mul", "tensor_pow", "tensor_sub", "tile", "tuple_equal", "tuple_getitem",
    "tuple_len", "tuple_reversed", "tuple_setitem", "tuple_to_array", "typeof", "zeros_like",
]  # fmt: skip
