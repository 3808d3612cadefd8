"""Wrong restores, assigns, feeds and fetches, each a function of a session and of the checkpoints in a folder.

A use builds its nodes in the session's graph, prepares what it needs and ends with what is wrong, whose result it returns if
there is one. What a use does is data for test_wrong_uses.py, which runs it on TensorFlow and on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import config_pb2

Use = Callable[[tf.Session, Path], Any]
KINDS = {"ref": False, "resource": True}
USES: dict[str, Use] = {}


def use(name: str) -> Callable[[Use], Use]:
    """Put a use into the table."""

    def add(function: Use) -> Use:
        assert name not in USES, name
        USES[name] = function
        return function

    return add


def variable(
    kind: str, shape: Any, name: str = "v", dtype: tf.DType = tf.float32, initial: Any = None, **options: Any
) -> tf.Variable:
    """A variable of ones, or of other numbers; its initialiser has not run."""
    initializer = tf.ones_initializer() if initial is None else initial
    given = None if initial is not None and not callable(initial) else shape
    return tf.get_variable(name, given, dtype, initializer, use_resource=KINDS[kind], **options)


def ready(session: tf.Session, made: tf.Variable) -> tf.Variable:
    session.run(made.initializer)
    return made


def fed(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def unknown(dtype: tf.DType = tf.float32) -> tf.Tensor:
    return tf.placeholder(dtype, None)


def write_checkpoints(folder: Path) -> None:
    """By TensorFlow: v of 3 numbers, w of (4, 2), p of (4, 2) in two parts, n of int32; then files that are damaged."""
    with tf.Graph().as_default(), tf.Session() as session:
        variable("ref", [3])
        variable("ref", [4, 2], "w")
        tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2), use_resource=False)
        variable("ref", [3], "n", tf.int32)
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        for name in ("good", "short", "flipped", "no_data", "no_index", "bad_index", "empty"):
            saver.save(session, str(folder / name), write_state=False, write_meta_graph=False)
    data, index = "{}.data-00000-of-00001", "{}.index"
    (folder / data.format("short")).write_bytes((folder / data.format("short")).read_bytes()[:10])
    flipped = bytearray((folder / data.format("flipped")).read_bytes())
    (folder / data.format("flipped")).write_bytes(bytes(b ^ 0xFF for b in flipped))
    (folder / data.format("no_data")).unlink()
    (folder / index.format("no_index")).unlink()
    (folder / index.format("bad_index")).write_bytes(b"x" * 200)
    (folder / index.format("empty")).write_bytes(b"")
    (folder / "text").write_text("no checkpoint")


# Restores


def restored(
    kind: str, shape: list[int], is_ready: bool, name: str, dtype: tf.DType, reshape: bool, session: tf.Session, folder: Path
) -> Any:
    made = variable(kind, shape, name, dtype)
    if is_ready:
        ready(session, made)
    tf.train.Saver([made], reshape=reshape).restore(session, str(folder / "good"))
    return session.run(made)


for _kind in KINDS:
    for _shape in ([4], [], [3, 1], [1, 3], [2, 5], [0], [2, 2, 2]):
        for _is_ready in (False, True):
            _name = f"restore {[3]} into {_shape}, {_kind}{', which has a value' * _is_ready}"
            USES[_name] = partial(restored, _kind, _shape, _is_ready, "v", tf.float32, False)
    USES[f"restore (4, 2) into (2, 4), {_kind}"] = partial(restored, _kind, [2, 4], False, "w", tf.float32, False)
    for _shape in ([3, 1], [4], [], [2, 2]):
        USES[f"restore [3] into {_shape} with reshape, {_kind}"] = partial(restored, _kind, _shape, False, "v", tf.float32, True)
    for _dtype in (tf.int32, tf.float64, tf.float16, tf.bool):
        USES[f"restore float32 into {_dtype.name}, {_kind}"] = partial(restored, _kind, [3], False, "v", _dtype, False)
    USES[f"restore what is not there, {_kind}"] = partial(restored, _kind, [3], False, "absent", tf.float32, False)
    USES[f"restore int32 into float32, {_kind}"] = partial(restored, _kind, [3], False, "n", tf.float32, False)


def restored_from(name: str, kind: str, session: tf.Session, folder: Path) -> Any:
    made = variable(kind, [3])
    tf.train.Saver([made]).restore(session, str(folder / name))
    return session.run(made)


for _kind in KINDS:
    for _file in ("absent", "short", "flipped", "no_data", "no_index", "bad_index", "empty", "text", "", "good.index"):
        USES[f"restore from {_file or 'the folder'}, {_kind}"] = partial(restored_from, _file, _kind)


@use("restore from None")
def _(session: tf.Session, folder: Path) -> Any:
    variable("ref", [3])
    tf.train.Saver().restore(session, None)


@use("a Saver of nothing")
def _(session: tf.Session, folder: Path) -> Any:
    tf.train.Saver()


@use("a Saver of a tensor")
def _(session: tf.Session, folder: Path) -> Any:
    tf.train.Saver([tf.constant(1.0)])


@use("a Saver of two variables of one name")
def _(session: tf.Session, folder: Path) -> Any:
    tf.train.Saver([variable("ref", [3]), variable("ref", [3], "w"), tf.global_variables()[0]])


@use("save before there is a value, ref")
def _(session: tf.Session, folder: Path) -> Any:
    variable("ref", [3])
    tf.train.Saver().save(session, str(folder / "new"))


@use("save before there is a value, resource")
def _(session: tf.Session, folder: Path) -> Any:
    variable("resource", [3])
    tf.train.Saver().save(session, str(folder / "new"))


@use("save where a file stands in the place of the folder")
def _(session: tf.Session, folder: Path) -> Any:
    ready(session, variable("ref", [3]))
    tf.train.Saver().save(session, str(folder / "text/new"))


@use("a restore that failed leaves no value")
def _(session: tf.Session, folder: Path) -> Any:
    made = variable("ref", [4])
    with suppress(tf.errors.InvalidArgumentError):
        tf.train.Saver().restore(session, str(folder / "good"))
    return session.run(made)


@use("a restore that failed leaves the value")
def _(session: tf.Session, folder: Path) -> Any:
    made = ready(session, variable("ref", [4]))
    with suppress(tf.errors.InvalidArgumentError):
        tf.train.Saver().restore(session, str(folder / "good"))
    return session.run(made)


def parts(n: int, shape: list[int], kind: str, session: tf.Session, folder: Path) -> Any:
    made = tf.get_variable("p", shape, partitioner=tf.fixed_size_partitioner(n), use_resource=KINDS[kind])
    tf.train.Saver().restore(session, str(folder / "good"))
    return [np.shape(value) for value in session.run(list(made))]


for _kind in KINDS:
    for _n, _shape in ((2, [4, 2]), (4, [4, 2]), (1, [4, 2]), (2, [6, 2]), (2, [4, 3]), (3, [4, 2])):
        USES[f"restore (4, 2) into {_n} parts of {_shape}, {_kind}"] = partial(parts, _n, _shape, _kind)


def initialised_from(kind: str, shape: list[int], there: str, dtype: tf.DType, session: tf.Session, folder: Path) -> Any:
    made = variable(kind, shape, "here", dtype)
    tf.train.init_from_checkpoint(str(folder / "good"), {there: "here"})
    session.run(made.initializer)
    return session.run(made)


for _kind in KINDS:
    for _shape, _there, _dtype in (([3], "v", tf.float32), ([4], "v", tf.float32), ([], "v", tf.float32), ([3], "x", tf.float32),
                                   ([3], "n", tf.float32), ([3], "v", tf.int32)):  # fmt: skip
        USES[f"init_from_checkpoint {_there} into {_shape} {_dtype.name}, {_kind}"] = partial(
            initialised_from, _kind, _shape, _there, _dtype
        )


def read_raw(names: list[str], slices: list[str], dtypes: list[tf.DType], session: tf.Session, folder: Path) -> Any:
    return session.run(
        tf.raw_ops.RestoreV2(prefix=str(folder / "good"), tensor_names=names, shape_and_slices=slices, dtypes=dtypes)
    )


for _name, *_given in (
    ("of the wrong type", ["v"], [""], [tf.int32]),
    ("of a slice of another shape", ["v"], ["5 0,3"], [tf.float32]),
    ("of a slice beyond the end", ["v"], ["3 0,4"], [tf.float32]),
    ("of a slice that is none", ["v"], ["three"], [tf.float32]),
    ("of fewer slices than names", ["v"], ["", ""], [tf.float32]),
    ("of two names for one type", ["v", "w"], ["", ""], [tf.float32]),
):
    USES[f"RestoreV2 {_name}"] = partial(read_raw, *_given)


# Assigns


def assigned(kind: str, shape: Any, value: tuple[int, ...], is_ready: bool, op: str, session: tf.Session, folder: Path) -> Any:
    made, given = variable(kind, shape), unknown()
    if is_ready:
        ready(session, made)
    session.run(getattr(tf, op)(made, given).op, {given: fed(*value)})
    return session.run(made)


for _kind in KINDS:
    for _op in ("assign", "assign_add", "assign_sub"):
        for _shape, _value in (([4], (3,)), ([4], ()), ([2, 3], (3,)), ([1], ()), ([], (1,)), ([2, 3], (3, 2)), ([0], (1,))):
            for _is_ready in (True, False):
                _what = f"{_op} {_value} to {_shape}, {_kind}{'' if _is_ready else ' without a value'}"
                USES[_what] = partial(assigned, _kind, _shape, _value, _is_ready, _op)


@use("assign without a look at the shape, then with one")
def _(session: tf.Session, folder: Path) -> Any:
    made, given = ready(session, variable("ref", [4])), unknown()
    session.run(tf.assign(made, given, validate_shape=False).op, {given: fed(5)})
    return session.run(tf.assign(made, given).op, {given: fed(4)})


@use("assign without a look at the shape")
def _(session: tf.Session, folder: Path) -> Any:
    made, given = variable("ref", [4]), unknown()
    session.run(tf.assign(made, given, validate_shape=False).op, {given: fed(5)})
    return session.run(made)


@use("assign_add of the declared shape after one of another")
def _(session: tf.Session, folder: Path) -> Any:
    made, given = variable("ref", [4]), unknown()
    session.run(tf.assign(made, given, validate_shape=False).op, {given: fed(5)})
    return session.run(tf.assign_add(made, given), {given: fed(4)})


def of_open_shape(kind: str, value: tuple[int, ...], session: tf.Session, folder: Path) -> Any:
    given = unknown()
    made = tf.Variable(given, validate_shape=False, use_resource=KINDS[kind])
    session.run(made.initializer, {given: fed(2)})
    session.run(tf.assign(made, given, validate_shape=False).op, {given: fed(*value)})
    session.run(tf.assign(made, given).op, {given: fed(3)})
    return session.run(made)


for _kind in KINDS:
    for _value in ((3,), (4,), ()):
        USES[f"assign [3] to {_value} of open shape, {_kind}"] = partial(of_open_shape, _kind, _value)


def of_declared_shape(shape: Any, value: tuple[int, ...], session: tf.Session, folder: Path) -> Any:
    ref, given = tf.raw_ops.VariableV2(shape=shape, dtype=tf.float32), unknown()
    session.run(tf.raw_ops.Assign(ref=ref, value=given).op, {given: fed(*value)})
    return session.run(ref)


for _shape, _value in (
    ([None, 3], (2, 3)),
    ([None, 3], (2, 4)),
    (None, (2,)),
    (None, ()),
    ([None], ()),
    ([2], (2,)),
    ([2], (3,)),
):
    USES[f"Assign {_value} to VariableV2 of {_shape}"] = partial(of_declared_shape, tf.TensorShape(_shape), _value)


@use("AssignVariableOp that looks at the shape")
def _(session: tf.Session, folder: Path) -> Any:
    made, given = ready(session, variable("resource", [4])), unknown()
    session.run(tf.raw_ops.AssignVariableOp(resource=made.handle, value=given, validate_shape=True), {given: fed(3)})


@use("AssignVariableOp that looks at the shape, without a value")
def _(session: tf.Session, folder: Path) -> Any:
    made, given = variable("resource", [4]), unknown()
    session.run(tf.raw_ops.AssignVariableOp(resource=made.handle, value=given, validate_shape=True), {given: fed(3)})
    return session.run(made)


@use("AssignVariableOp that does not look at the shape")
def _(session: tf.Session, folder: Path) -> Any:
    made, given = ready(session, variable("resource", [4])), unknown()
    session.run(tf.raw_ops.AssignVariableOp(resource=made.handle, value=given), {given: fed(3)})
    return session.run(made)


def typed(op: str, session: tf.Session, folder: Path) -> Any:
    handle = tf.raw_ops.VarHandleOp(shape=[2], dtype=tf.float32, shared_name="h")
    wrong = tf.raw_ops.VarHandleOp(shape=[2], dtype=tf.int32, shared_name="h")
    session.run(tf.raw_ops.AssignVariableOp(resource=handle, value=fed(2)))
    if op == "ReadVariableOp":
        return session.run(tf.raw_ops.ReadVariableOp(resource=wrong, dtype=tf.int32))
    return session.run(getattr(tf.raw_ops, op)(resource=wrong, value=np.int32([1, 2])))


for _op in ("ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp"):
    USES[f"{_op} of another type by the same name"] = partial(typed, _op)


SCATTERS = ("scatter_update", "scatter_add", "scatter_sub", "scatter_mul", "scatter_div", "scatter_min", "scatter_max")


def scattered(kind: str, op: str, indices: Any, updates: tuple[int, ...], is_ready: bool, session: tf.Session, _: Path) -> Any:
    made, where, given = variable(kind, [3, 2]), unknown(tf.int32), unknown()
    if is_ready:
        ready(session, made)
    session.run(getattr(tf, op)(made, where, given), {where: indices, given: fed(*updates)})
    return session.run(made)


for _kind in KINDS:
    for _op in SCATTERS:
        USES[f"{_op} beyond the end, {_kind}"] = partial(scattered, _kind, _op, [0, 3], (2, 2), True)
    for _op in ("scatter_update", "scatter_add"):
        USES[f"{_op} below zero, {_kind}"] = partial(scattered, _kind, _op, [0, -1], (2, 2), True)
        USES[f"{_op} of other updates, {_kind}"] = partial(scattered, _kind, _op, [0, 1], (3, 2), True)
        USES[f"{_op} of narrow updates, {_kind}"] = partial(scattered, _kind, _op, [0, 1], (2, 1), True)
        USES[f"{_op} of one number, {_kind}"] = partial(scattered, _kind, _op, [0, 1], (), True)
        USES[f"{_op} of one index, {_kind}"] = partial(scattered, _kind, _op, 1, (2,), True)
        USES[f"{_op} without a value, {_kind}"] = partial(scattered, _kind, _op, [0, 1], (2, 2), False)


def scattered_nd(op: str, indices: Any, updates: tuple[int, ...], kind: str, session: tf.Session, folder: Path) -> Any:
    made, where, given = ready(session, variable(kind, [3, 2])), unknown(tf.int32), unknown()
    session.run(getattr(tf, op)(made, where, given), {where: indices, given: fed(*updates)})
    return session.run(made)


for _kind in KINDS:
    for _op in ("scatter_nd_update", "scatter_nd_add"):
        USES[f"{_op} beyond the end, {_kind}"] = partial(scattered_nd, _op, [[0, 2]], (1,), _kind)
        USES[f"{_op} of other updates, {_kind}"] = partial(scattered_nd, _op, [[0, 1]], (2,), _kind)
        for _indices, _updates in (
            ([[0, 1, 0]], (1,)), ([[0, 1, 0]], (2,)), ([[0]], (1, 3)), ([[0]], (1,)), ([[0]], (2, 2)), ([[0]], (1, 2, 1)),
            ([[0, 1]], (1, 1)), ([0], (1,)), ([0, 1], (2,)), ([0, 1], (1,)), ([0, 1], (2, 2)), ([[[0]]], (1, 1, 3)),
            ([[-1, 0]], (1,)), ([[3]], (1, 2)),
        ):  # fmt: skip
            USES[f"{_op} of {_updates} by {_indices}, {_kind}"] = partial(scattered_nd, _op, _indices, _updates, _kind)


def loaded(kind: str, value: Any, session: tf.Session, folder: Path) -> Any:
    made = ready(session, variable(kind, [4]))
    made.load(value, session)
    return session.run(made)


for _kind in KINDS:
    for _name, _value in (("[3]", fed(3)), ("()", np.float32(1)), ("text", ["a", "b", "c", "d"]), ("ragged", [[1], [2, 3]]),
                          ("float64", np.ones(4)), ("None", None)):  # fmt: skip
        USES[f"load {_name}, {_kind}"] = partial(loaded, _kind, _value)


def initialised_by(kind: str, value: Any, session: tf.Session, folder: Path) -> Any:
    given = tf.placeholder(tf.float32, None)
    made = tf.get_variable(
        "v", [4], initializer=lambda *_, **__: tf.placeholder_with_default(value, None), use_resource=KINDS[kind]
    )
    session.run(made.initializer)
    return session.run(made), given.shape


for _kind in KINDS:
    USES[f"an initialiser of another shape, {_kind}"] = partial(initialised_by, _kind, fed(3))
    USES[f"an initialiser of no dimension, {_kind}"] = partial(initialised_by, _kind, fed())


def large(is_ready: bool, session: tf.Session, folder: Path) -> Any:
    """As large as what the device fuses: an update of the variable's own memory."""
    made, x, size = variable("ref", [70_000]), unknown(), tf.placeholder(tf.int32, [1])
    if is_ready:
        ready(session, made)
    session.run(tf.assign(made, tf.tanh(tf.reshape(x * 2.0, size))).op, {x: fed(60_000), size: [60_000]})
    return session.run(made)


USES["assign much of another shape, without a value"] = partial(large, False)
USES["assign much of another shape"] = partial(large, True)


def without_elements(kind: str, what: str, session: tf.Session, folder: Path) -> Any:
    made = variable(kind, [0, 2])
    return session.run(
        made if what == "read" else tf.is_variable_initialized(made) if what == "asked" else tf.assign_add(made, made)
    )


for _kind in KINDS:
    for _what in ("read", "asked", "added to"):
        USES[f"a variable without elements that is {_what}, {_kind}"] = partial(without_elements, _kind, _what)


@use("destroy what has no value")
def _(session: tf.Session, folder: Path) -> Any:
    session.run(tf.raw_ops.DestroyResourceOp(resource=variable("resource", [2]).handle, ignore_lookup_error=False))


def beside_another(how: str, session: tf.Session, folder: Path) -> Any:
    """Another variable has a value: TensorFlow words what is missing in another way."""
    ready(session, variable("resource", [1], "other"))
    return session.run(READS[how](variable("resource", [3])))


@use("an initialiser that reads what has no value")
def _(session: tf.Session, folder: Path) -> Any:
    first = variable("ref", [2])
    session.run(tf.Variable(first * 2.0, use_resource=False).initializer)


def conditional(kind: str, flag: bool, session: tf.Session, folder: Path) -> Any:
    made, given, taken = ready(session, variable(kind, [4])), unknown(), tf.placeholder(tf.bool, [])
    changed = tf.cond(taken, lambda: tf.identity(tf.assign(made, given)), lambda: tf.identity(made))
    session.run(changed, {taken: flag, given: fed(3)})
    return session.run(made)


def conditional_without_value(kind: str, flag: bool, session: tf.Session, folder: Path) -> Any:
    made, given, taken = variable(kind, [4]), unknown(), tf.placeholder(tf.bool, [])
    changed = tf.cond(taken, lambda: tf.assign_add(made, given).op, lambda: tf.no_op())
    session.run(changed, {taken: flag, given: fed(4)})


def in_loop(kind: str, n: int, session: tf.Session, folder: Path) -> Any:
    made, given = ready(session, variable(kind, [4])), unknown()

    def body(i: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies([tf.assign(made, given)]):
            return i + 1

    session.run(tf.while_loop(lambda i: i < n, body, [0]), {given: fed(3)})
    return session.run(made)


for _kind in KINDS:
    for _flag in (True, False):
        USES[f"assign [3] to [4] in a branch that is {'' if _flag else 'not '}taken, {_kind}"] = partial(
            conditional, _kind, _flag
        )
        _what = f"assign_add without a value in a branch that is {'' if _flag else 'not '}taken, {_kind}"
        USES[_what] = partial(conditional_without_value, _kind, _flag)
    for _n in (0, 2):
        USES[f"assign [3] to [4] in a loop of {_n}, {_kind}"] = partial(in_loop, _kind, _n)


def functional(kind: str, what: str, session: tf.Session, folder: Path) -> Any:
    """In a branch, a loop or a call of TensorFlow 2's kind."""
    made, given, taken = variable(kind, [4]), unknown(), tf.placeholder_with_default(True, [])
    if "without" not in what:
        ready(session, made)
    was_on = tf.control_flow_v2_enabled()
    tf.enable_control_flow_v2()
    try:
        change = (lambda: made.assign_add(given)) if "add" in what else (lambda: made.assign(given))
        if "branch" in what:
            changed = tf.cond(taken, lambda: tf.identity(change()), lambda: tf.identity(made))
        elif "loop" in what:
            changed = tf.while_loop(lambda i: i < 2, lambda i: i + tf.cast(tf.size(change()), tf.int32), [0])
        else:
            changed = tf.function(lambda: tf.identity(change()))()
    finally:
        (tf.enable_control_flow_v2 if was_on else tf.disable_control_flow_v2)()
    session.run(changed, {given: fed(3)})
    return session.run(made)


for _place in ("branch", "loop", "call"):
    for _what in ("assign", "add", "add without a value"):
        USES[f"{_what} in a functional {_place}, resource"] = partial(functional, "resource", f"{_what} {_place}")


def on_host(kind: str, dtype: tf.DType, what: str, session: tf.Session, folder: Path) -> Any:
    """The device has neither type, so the variable is TensorFlow's own."""
    value = np.array(["a", "b", "c"], object) if dtype == tf.string else np.ones(3)
    first = tf.constant(["a"] * 4) if dtype == tf.string else tf.ones([4], dtype)
    made, given = tf.get_variable("v", initializer=first, use_resource=KINDS[kind]), unknown(dtype)
    if what != "assign without a value":
        ready(session, made)
    if what == "restore":
        tf.train.Saver().restore(session, str(folder / "good"))
    session.run(tf.assign(made, given).op, {given: value})
    return session.run(made)


for _kind in KINDS:
    for _dtype in (tf.float64, tf.string):
        for _what in ("assign", "assign without a value", "restore"):
            USES[f"{_what} a {_dtype.name} of another shape, {_kind}"] = partial(on_host, _kind, _dtype, _what)


def of_rows(kind: str, name: str, rows: list[int], shape: tuple[int, ...], is_ready: bool, session: tf.Session, _: Path) -> Any:
    made, where, given = variable(kind, [4, 2]), unknown(tf.int32), unknown()
    step = OPTIMIZERS[name]().apply_gradients([(tf.IndexedSlices(given, where), made)])
    if is_ready:
        session.run(tf.global_variables_initializer())
    session.run(step, {where: rows, given: fed(*shape)})
    return session.run(made)


def of_all(kind: str, name: str, shape: tuple[int, ...], session: tf.Session, folder: Path) -> Any:
    made, given = variable(kind, [4, 2]), unknown()
    step = OPTIMIZERS[name]().apply_gradients([(given, made)])
    session.run(tf.global_variables_initializer())
    session.run(step, {given: fed(*shape)})
    return session.run(made)


# Reads without a value

READS: dict[str, Callable[[Any], Any]] = {
    "value": lambda v: v.value(),
    "read_value": lambda v: v.read_value(),
    "sum": lambda v: tf.reduce_sum(v),
    "gather": lambda v: tf.gather(v, [0]),
    "slice": lambda v: v[1:],
    "shape": lambda v: tf.raw_ops.Shape(input=v.read_value()),
    "assign to a slice": lambda v: v[1:].assign([1.0, 2.0]),
    "is_variable_initialized": lambda v: tf.is_variable_initialized(v),
    "report": lambda v: tf.report_uninitialized_variables([v]),
    "assert": lambda v: tf.assert_variables_initialized([v]),
    "initialized_value": lambda v: v.initialized_value(),
}


OPTIMIZERS: dict[str, Callable[[], tf.train.Optimizer]] = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: tf.train.AdamOptimizer(0.1),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "Adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.1),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "ProximalAdagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1),
}


def minimised(kind: str, name: str, ready_too: str, session: tf.Session, folder: Path) -> Any:
    """ready_too: which of the variable and the optimizer's own have a value."""
    made, optimizer = variable(kind, [3]), OPTIMIZERS[name]()
    step = optimizer.apply_gradients([(fed(3), made)])
    slots = [v for v in tf.global_variables() if v is not made]
    session.run(tf.variables_initializer({"none": [], "its own": slots, "the variable": [made]}[ready_too]))
    session.run(step)


for _kind in KINDS:
    for _name in OPTIMIZERS:
        for _ready in (*["none"] * (_name != "Adam"), "its own", *["the variable"] * (_name not in ("Adam", "GradientDescent"))):
            USES[f"{_name} where {_ready} has a value, {_kind}"] = partial(minimised, _kind, _name, _ready)


def read(kind: str, how: str, session: tf.Session, folder: Path) -> Any:
    return session.run(READS[how](variable(kind, [3])))


for _kind in KINDS:
    for _how in READS:
        USES[f"{_how} without a value, {_kind}"] = partial(read, _kind, _how)


for _kind in KINDS:
    for _name in ("GradientDescent", "Momentum", "Adam", "Adagrad", "RMSProp", "Ftrl"):
        for _shape in ((4, 3), (2,), ()):
            USES[f"{_name} by a gradient of {_shape}, {_kind}"] = partial(of_all, _kind, _name, _shape)
    for _name in ("Momentum", "Adagrad", "RMSProp", "Ftrl"):
        for _rows, _shape in (([0, 4], (2, 2)), ([0, -1], (2, 2)), ([0, 1], (3, 2)), ([0, 1], (2, 3))):
            USES[f"{_name} by {_shape} of rows {_rows}, {_kind}"] = partial(of_rows, _kind, _name, _rows, _shape, True)
        USES[f"{_name} by rows where nothing has a value, {_kind}"] = partial(of_rows, _kind, _name, [0], (1, 2), False)

for _how in ("value", "gather", "assign to a slice"):
    USES[f"{_how} without a value, beside another"] = partial(beside_another, _how)


# Feeds


def given(dtype: tf.DType, shape: Any, value: Any, session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(dtype, shape, name="x")
    return session.run(tf.identity(x), {x: value})


FEEDS: dict[str, tuple[tf.DType, Any, Any]] = {
    "(2, 4) for [None, 3]": (tf.float32, [None, 3], fed(2, 4)),
    "(3,) for [None, 3]": (tf.float32, [None, 3], fed(3)),
    "() for [1]": (tf.float32, [1], 1.0),
    "(1,) for []": (tf.float32, [], [1.0]),
    "(0,) for [1]": (tf.float32, [1], []),
    "text for float32": (tf.float32, [2], ["a", "b"]),
    "a word for float32": (tf.float32, [], "abc"),
    "a word that is a number for float32": (tf.float32, [], "1.5"),
    "ragged for float32": (tf.float32, None, [[1.0], [2.0, 3.0]]),
    "ragged arrays for float32": (tf.float32, None, [fed(2), fed(3)]),
    "None for float32": (tf.float32, None, None),
    "a list with None for float32": (tf.float32, None, [1.0, None]),
    "an object for float32": (tf.float32, None, object()),
    "a dict for float32": (tf.float32, None, {"a": 1}),
    "a set for float32": (tf.float32, None, {1.0}),
    "float for int32": (tf.int32, [], 1.5),
    "floats for int32": (tf.int32, [2], [1.5, 2.5]),
    "a float array for int32": (tf.int32, [2], fed(2)),
    "300 for uint8": (tf.uint8, [], 300),
    "-1 for uint8": (tf.uint8, [], -1),
    "-1 in a list for uint8": (tf.uint8, [1], [-1]),
    "2**40 for int32": (tf.int32, [], 1 << 40),
    "2**40 in a list for int32": (tf.int32, [1], [1 << 40]),
    "2**70 for int64": (tf.int64, [], 1 << 70),
    "complex for float32": (tf.float32, [], 1j),
    "numbers for string": (tf.string, [2], [1, 2]),
    "a number for string": (tf.string, [], 5),
    "None for string": (tf.string, [], None),
    "mixed for string": (tf.string, [2], ["a", 1]),
    "float for bool": (tf.bool, [2], [0.5, 0.0]),
    "text for bool": (tf.bool, [], "False"),
    "int for bool": (tf.bool, [], 2),
    "1e300 for float32": (tf.float32, [], 1e300),
    "1e10 for float16": (tf.float16, [], 1e10),
    "int for float32": (tf.float32, [], 3),
    "bool for float32": (tf.float32, [], True),
    "bytes for string": (tf.string, [], b"a\0"),
    "a generator for float32": (tf.float32, None, (x for x in (1.0, 2.0))),
    "a range for float32": (tf.float32, [3], range(3)),
}
for _name, (_dtype, _shape, _value) in FEEDS.items():
    USES[f"feed {_name}"] = partial(given, _dtype, _shape, _value)


@use("feed a tensor")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32)
    session.run(x + 1.0, {x: tf.constant(1.0)})


@use("feed a constant")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.constant([1.0, 2.0])
    return session.run(x * 2.0, {x: [5.0, 6.0]})


@use("feed a constant of another shape")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.constant([1.0, 2.0])
    return session.run(x * 2.0, {x: [5.0]})


@use("feed what may not be fed")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.constant(1.0)
    session.graph.prevent_feeding(x)
    session.run(x * 2.0, {x: 3.0})


@use("feed an operation")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.constant(1.0)
    session.run(x * 2.0, {x.op: 3.0})


@use("feed a name that is not there")
def _(session: tf.Session, folder: Path) -> Any:
    session.run(tf.constant(1.0), {"absent:0": 3.0})


@use("feed by the name of an operation")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    session.run(x * 2.0, {"x": 3.0})


@use("feed by name")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    return session.run(x * 2.0, {"x:0": 3.0})


@use("feed an output that is not there")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    session.run(x * 2.0, {"x:1": 3.0})


@use("feed a tensor of another graph")
def _(session: tf.Session, folder: Path) -> Any:
    with tf.Graph().as_default():
        other = tf.placeholder(tf.float32, name="other")
    session.run(tf.constant(1.0), {other: 3.0})


@use("feed a number as the key")
def _(session: tf.Session, folder: Path) -> Any:
    session.run(tf.constant(1.0), {5: 3.0})


@use("feed what is no dict")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32)
    session.run(x, [(x, 1.0)])


@use("feed one tensor twice")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    return session.run(x * 2.0, {x: 1.0, "x:0": 2.0})


@use("feed a ref variable")
def _(session: tf.Session, folder: Path) -> Any:
    made = variable("ref", [2])
    return session.run(made * 2.0, {made: [3.0, 4.0]})


@use("feed a ref variable another shape")
def _(session: tf.Session, folder: Path) -> Any:
    made = variable("ref", [2])
    session.run(made * 2.0, {made: fed(3)})


@use("feed a resource variable")
def _(session: tf.Session, folder: Path) -> Any:
    made = variable("resource", [2])
    return session.run(made * 2.0, {made: [3.0, 4.0]})


@use("feed a handle a number")
def _(session: tf.Session, folder: Path) -> Any:
    made = variable("resource", [2])
    session.run(made.read_value(), {made.handle: 5.0})


@use("feed a sparse tensor two parts")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.sparse_placeholder(tf.float32)
    session.run(tf.sparse_tensor_to_dense(x), {x: ([[0, 0]], [1.0])})


@use("feed a sparse tensor indices that do not fit")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.sparse_placeholder(tf.float32)
    session.run(tf.sparse_tensor_to_dense(x), {x: (np.int64([[0, 9]]), fed(1), np.int64([2, 2]))})


@use("feed nothing")
def _(session: tf.Session, folder: Path) -> Any:
    session.run(tf.placeholder(tf.float32, [2], name="x") + 1.0)


@use("feed nothing of no known shape")
def _(session: tf.Session, folder: Path) -> Any:
    session.run(tf.placeholder(tf.int32, name="x") + 1)


@use("feed nothing to a placeholder in a branch that is taken")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    session.run(tf.cond(tf.constant(True), lambda: x + 1.0, lambda: 2.0))


@use("feed a default another shape")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder_with_default(fed(2), [2], name="x")
    session.run(x + 1.0, {x: fed(3)})


@use("a default that its shape does not allow")
def _(session: tf.Session, folder: Path) -> Any:
    session.run(tf.placeholder_with_default(fed(2), [3], name="x") + 1.0)


# Fetches

FETCHES: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "a float": 1.5,
    "an array": fed(2),
    "an object": object,
    "nothing": [],
    "an empty dict": {},
    "an empty name": "",
    "a name that is not there": "absent:0",
    "an operation that is not there": "absent",
    "an output that is not there": "c:3",
    "a name with a word for the output": "c:x",
    "bytes": b"c:0",
    "a list with None": ["c:0", None],
    "a dict with a number": {"a": "c:0", "b": 5},
    "an operation": "c",
    "a device": "/cpu:0",
    "a nested list": [["c:0"], {"x": ("c:0", [])}],
    "a set": {"c:0"},
    "a lambda": len,
    "True": True,
}


def fetched(what: Any, session: tf.Session, folder: Path) -> Any:
    tf.constant(1.0, name="c")
    return session.run(what)


for _name, _value in FETCHES.items():
    USES[f"fetch {_name}"] = partial(fetched, _value)


@use("fetch a tensor of another graph")
def _(session: tf.Session, folder: Path) -> Any:
    with tf.Graph().as_default():
        other = tf.constant(1.0, name="other")
    session.run(other)


@use("fetch what may not be fetched")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.constant(1.0)
    session.graph.prevent_fetching(x.op)
    session.run(x)


@use("fetch a handle")
def _(session: tf.Session, folder: Path) -> Any:
    made = ready(session, variable("resource", [2]))
    session.run(made.handle)


@use("fetch a ref variable and write it in the same run")
def _(session: tf.Session, folder: Path) -> Any:
    made = ready(session, variable("ref", [2]))
    return session.run([tf.assign_add(made, [1.0, 1.0])])


@use("fetch from a session that is closed")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.constant(1.0)
    session.close()
    session.run(x)


@use("fetch out of a branch")
def _(session: tf.Session, folder: Path) -> Any:
    flag = tf.placeholder(tf.bool, [])
    return session.run(tf.raw_ops.Switch(data=fed(2), pred=flag).output_false, {flag: True})


@use("fetch out of a loop")
def _(session: tf.Session, folder: Path) -> Any:
    inner = []

    def body(i: tf.Tensor) -> tf.Tensor:
        inner.append(i + 1)
        return inner[0]

    tf.while_loop(lambda i: i < 3, body, [0])
    session.run(inner[0])


@use("make_callable with a list for the feeds that is none")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32)
    session.make_callable(x, x)


@use("make_callable called with too few")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    session.make_callable(x + 1.0, [x])()


@use("make_callable called with another shape")
def _(session: tf.Session, folder: Path) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    session.make_callable(x + 1.0, [x])(fed(3))


def called(dtype: tf.DType, shape: Any, values: tuple[Any, ...], session: tf.Session, folder: Path) -> Any:
    """As Keras calls a graph."""
    x = tf.placeholder(dtype, shape, name="x")
    options = config_pb2.CallableOptions(feed=[x.name], fetch=[(x + x).name])
    return session._make_callable_from_options(options)(*values)


for _name, _values in (
    ("another shape", (fed(3),)), ("another rank", (fed(1, 2),)), ("too few", ()), ("too many", (fed(2), fed(2))),
    ("another type", (np.int32([1, 2]),)), ("a list", ([1.0, 2.0],)), ("text", (np.array(["a", "b"]),)), ("None", (None,)),
):  # fmt: skip
    USES[f"a callable given {_name}"] = partial(called, tf.float32, [2], _values)


def callable_of(what: str, feed: str, session: tf.Session, folder: Path) -> Any:
    tf.placeholder(tf.float32, [2], name="x")
    return session._make_callable_from_options(config_pb2.CallableOptions(feed=[feed], fetch=[what]))(fed(2))


for _what, _feed in (("absent:0", "x:0"), ("x:1", "x:0"), ("x:0", "absent:0"), ("x:0", "x:3")):
    USES[f"a callable of {_what} by {_feed}"] = partial(callable_of, _what, _feed)


@use("reshape to a shape of other size")
def _(session: tf.Session, folder: Path) -> Any:
    shape = tf.placeholder(tf.int32, [2])
    return session.run(tf.reshape(unknown_rows(), shape), {shape: [4, -1]})


@use("split into one part whose size does not fit")
def _(session: tf.Session, folder: Path) -> Any:
    size = tf.placeholder(tf.int32, [1])
    return session.run(tf.split(unknown_rows(), size), {size: [2]})


def unknown_rows() -> tf.Tensor:
    return tf.placeholder_with_default(fed(3, 2), [None, None])
