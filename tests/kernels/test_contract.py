"""Promises of every kernel to the compiler, checked on every case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

from npu_runtime.device.variable import Variable
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import ALWAYS_IGNORED, all_kernels
from tests.kernels.harness import Case, all_cases, call, call_small, case_ids, kernel_of, spec_of
from tests.one_item import together

CASES = all_cases()
TESTED_IN_GRAPHS = ("Stack", "TensorArray", "TensorList", "EmptyTensorList", "Optional")
"""Their inputs are handles that only a graph can make: test_loops.py and test_tensor_lists.py of tests/runtime run them."""


def outputs_of(one: Case, inputs: list[Any], **extra: Any) -> list[Any]:
    return [v.read() if isinstance(v, Variable) else v for v in call(one, inputs, **extra)]


def shape_is_the_real_shape(one: Case) -> None:
    actual = [v.shape for v in outputs_of(one, one.flat())]
    inferred = kernel_of(one).infer(one.specs(), one.attrs)
    assert len(inferred) == len(actual)
    for shape, real in zip(inferred, actual, strict=True):
        assert shape is None or (len(shape) == len(real) and all(m in (None, n) for m, n in zip(shape, real, strict=True)))


def shape_copes_with_the_unknown(one: Case) -> None:
    actual = [v.shape for v in outputs_of(one, one.flat())]
    specs = one.specs()
    for less in ([Spec(None, s.dtype) for s in specs], [Spec((None,) * (s.rank or 0), s.dtype) for s in specs]):
        for shape, real in zip(kernel_of(one).infer(less, one.attrs), actual, strict=True):
            assert shape is None or (len(shape) == len(real) and all(m in (None, n) for m, n in zip(shape, real, strict=True)))


def inputs_stay(one: Case) -> None:
    inputs = one.flat()
    call(one, inputs)
    for after, before in zip(inputs, one.flat(), strict=True):
        if not isinstance(after, Variable):
            assert after.tobytes() == before.tobytes()  # numpy does not find a NaN of bfloat16 equal to itself


def out_is_filled_and_returned(one: Case) -> None:
    if not kernel_of(one).takes_out:
        return
    plain = outputs_of(one, one.flat())
    buffers = [np.full(v.shape, 1, v.dtype) for v in plain]
    given = call(one, one.flat(), out=buffers[0] if len(buffers) == 1 else tuple(buffers))
    for value, buffer, expected in zip(given, buffers, plain, strict=True):
        assert value is buffer
        np.testing.assert_array_equal(value, expected)


def inplace_is_exact(one: Case) -> None:
    plain = outputs_of(one, one.flat())
    for index in kernel_of(one).inplace:
        inputs = one.flat()
        if isinstance(inputs[index], Variable) or inputs[index].shape != plain[0].shape or inputs[index].dtype != plain[0].dtype:
            continue
        out = inputs[index] if len(plain) == 1 else (inputs[index], *[np.empty_like(v) for v in plain[1:]])
        np.testing.assert_array_equal(outputs_of(one, inputs, out=out)[0], plain[0])


def the_function_for_a_shape_gives_the_same_bits(one: Case, is_planned: bool = False) -> None:
    plain = outputs_of(one, one.flat())
    inputs = one.flat()
    made = call_small(one, inputs, plain, is_planned)
    for value, expected in zip(made or [], plain, strict=made is not None):
        assert_same_bits(value, expected)
    for after, before in zip(inputs if made else [], one.flat(), strict=made is not None):
        np.testing.assert_array_equal(after, before)


def a_planned_function_for_a_shape_gives_the_same_bits(one: Case) -> None:
    the_function_for_a_shape_gives_the_same_bits(one, is_planned=True)


def the_function_for_a_shape_may_write_over_an_input(one: Case) -> None:
    plain = outputs_of(one, one.flat())
    function = kernel_of(one).function_for(one.specs(), [spec_of(v) for v in plain], one.attrs, True)
    for index in kernel_of(one).inplace if function is not None and len(plain) == 1 else ():
        inputs = one.flat()
        given = inputs[index]
        if isinstance(given, np.ndarray) and (given.shape, given.dtype) == (plain[0].shape, plain[0].dtype):
            assert_same_bits(call_into(function, inputs, given), plain[0])


def call_into(function: Any, inputs: list[Any], out: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        made: np.ndarray = function(*inputs, out=out)
    return made


def assert_same_bits(value: np.ndarray, expected: np.ndarray) -> None:
    assert isinstance(value, np.ndarray)
    assert (value.dtype, value.shape, value.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


def strided_equals_contiguous(one: Case) -> None:
    inputs = [v if isinstance(v, Variable) else _strided(v) for v in one.flat()]
    for value, expected in zip(outputs_of(one, inputs), outputs_of(one, one.flat()), strict=True):
        if value.dtype.kind == "f":
            magnitude = np.abs(expected).max(initial=0.0, where=np.isfinite(expected))
            np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6 * magnitude)
        else:
            np.testing.assert_array_equal(value, expected)


def _strided(value: np.ndarray) -> np.ndarray:
    if value.ndim == 0:
        return value
    wide = np.zeros((*value.shape[:-1], value.shape[-1] * 2), value.dtype)
    wide[..., ::2] = value
    return wide[..., ::2]


def work_is_counted(one: Case) -> None:
    outputs = [spec_of(v) for v in outputs_of(one, one.flat())]
    assert kernel_of(one).work(one.specs(), outputs, one.attrs) >= 0.0


PROMISES = (
    shape_is_the_real_shape,
    shape_copes_with_the_unknown,
    inputs_stay,
    out_is_filled_and_returned,
    inplace_is_exact,
    the_function_for_a_shape_gives_the_same_bits,
    a_planned_function_for_a_shape_gives_the_same_bits,
    the_function_for_a_shape_may_write_over_an_input,
    strided_equals_contiguous,
    work_is_counted,
)
PROMISED = [
    pytest.param(promise, one, id=f"{promise.__name__} of {name}")
    for one, name in zip(CASES, case_ids(CASES), strict=True)
    for promise in PROMISES
]


@together("promise, one", PROMISED, by=lambda promise, one: one.op)
def test_a_kernel_keeps_its_promises(promise: Callable[[Case], None], one: Case) -> None:
    promise(one)


@together("op", all_kernels())
def test_every_op_has_the_signature_of_the_registry(op: str) -> None:
    made, op_def = all_kernels()[op], op_def_registry.get(op)
    if op_def is None:
        assert op.startswith("_"), f"{op} is not an op of TensorFlow"
        return
    types = {a.name for a in op_def.attr if a.type in ("type", "list(type)")}
    known = {a.name for a in op_def.attr}
    assert made.attrs <= known, f"{made.attrs - known} are no attributes of {op}"
    assert made.ignores <= known - made.attrs
    silent = known - types - made.attrs - made.ignores - ALWAYS_IGNORED
    assert not silent, f"{op} neither takes nor ignores {sorted(silent)}"
    assert set(made.dtypes) <= types | {"T"}


HALVES = {"float16", "bfloat16"}
"""Precision modes cast to them what TensorFlow's CPU has in float32 only."""
HANDLES = "TensorFlow pushes handles to lists and takes none out; one function serves all elements here"
MORE_TYPES = {
    ("MaxPoolGradWithArgmax", "Targmax"): ({"int32"}, "MaxPoolWithArgmax gives int32 too, and a gradient for it on no CPU"),
    **{
        (f"TensorList{name}", "element_dtype"): ({"resource"}, HANDLES)
        for name in ("Concat", "ConcatV2", "FromTensor", "Gather", "GetItem", "PopBack", "Scatter", "ScatterV2",
                     "ScatterIntoExistingList", "Split", "Stack")
    },
}  # fmt: skip
"""Types that a kernel takes beyond TensorFlow's on the CPU, each with its reason."""


def types_on_cpu(op: str, attribute: str) -> set[str] | None:
    """Types that TensorFlow's CPU kernels are registered for, or the definition's where they say nothing; None is any type."""
    allowed: set[str] = set()
    for registered in kernels.get_registered_kernels_for_op(op).kernel:
        if registered.device_type not in ("CPU", "DEFAULT"):
            continue
        constraints = [one for one in registered.constraint if one.name == attribute]
        if not constraints:
            (defined,) = (one for one in op_def_registry.get(op).attr if one.name == attribute)
            return names_of(defined) if defined.HasField("allowed_values") else None
        allowed |= names_of(constraints[0])
    return allowed


def names_of(constraint: Any) -> set[str]:
    return {tf.dtypes.as_dtype(number).base_dtype.name for number in constraint.allowed_values.list.type}


def test_types_are_no_more_than_tensorflow_s() -> None:
    more = {}
    for op, made in all_kernels().items():
        known = {one.name for one in op_def.attr} if (op_def := op_def_registry.get(op)) else set()
        for attribute in made.dtypes.keys() & known:
            theirs = types_on_cpu(op, attribute)
            allowed = made.dtypes[attribute] if theirs is None else theirs | (HALVES if "float32" in theirs else set())
            if beyond := set(made.dtypes[attribute] - allowed):
                more[op, attribute] = beyond
    assert more == {key: types for key, (types, _) in MORE_TYPES.items()}


@together("op", all_kernels())
def test_every_op_has_a_case(op: str) -> None:
    if op.startswith(("_", *TESTED_IN_GRAPHS)):
        return
    assert any(one.op == op for one in CASES), f"add a case for {op} to tests/kernels/cases"
