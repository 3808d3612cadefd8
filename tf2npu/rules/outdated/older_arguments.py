"""Arguments that releases of TensorFlow before 1.0 took under other names, or that are gone."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.rules.facts.tree_search import nodes_in
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Call

_CELLS = ("BasicLSTMCell", "LSTMCell", "GRUCell", "BasicRNNCell")
_QUEUES = ("batch", "shuffle_batch", "maybe_batch", "maybe_shuffle_batch")
_JOINS = ("batch_join", "shuffle_batch_join", "maybe_batch_join", "maybe_shuffle_batch_join")

KEYWORDS = {
    "SparseTensor": {"shape": "dense_shape"}, "SparseTensorValue": {"shape": "dense_shape"},
    "uniform_unit_scaling_initializer": {"full_shape": ""},
    **{f"{home}.{cell}": {"input_size": ""} for home in ("nn.rnn_cell", "contrib.rnn") for cell in _CELLS},
    **{f"train.{name}": {"tensor_list": "tensors"} for name in _QUEUES},
    **{f"train.{name}": {"tensor_list_list": "tensors_list"} for name in _JOINS},
}  # fmt: skip
"""Keywords by the API below `tensorflow`, with what each is called in 1.15; "" where it is gone and had no effect any more.

full_shape: the initializer is told the shape by the variable.  input_size: cells see it in their inputs since 0.9.
"""
_ABSENT = {
    "contrib.layers.fully_connected": ("num_output_units", "weight_init", "bias_init", "weight_regularizer", "bias_regularizer"),
    "contrib.layers.conv2d": ("num_output_channels", "weight_init", "bias_init", "weight_regularizer", "bias_regularizer"),
}
"""Keywords of 0.7, beside which the default of activation_fn was another."""
SHIFTED = {
    **{f"{home}.{cell}": 1 for home in ("nn.rnn_cell", "contrib.rnn") for cell in ("LSTMCell", "GRUCell", "BasicRNNCell")},
    **{f"{home}.BasicLSTMCell": 2 for home in ("nn.rnn_cell", "contrib.rnn")},
}
"""Position of input_size among the arguments of a cell. In 1.15 the argument at this position is no number."""


@rule(
    id="NPU986",
    title="Arguments of an earlier TensorFlow",
    matches=tuple(f"tensorflow.{name}" for name in KEYWORDS),
    why=(
        "Releases before 1.0 took these arguments; 1.15, with which the NPU's adapter works, "
        "refuses them or takes them for others."
    ),
    done_when="`tf2npu run` passes this line, and the first loss is that of the earlier release.",
    source="release notes of TensorFlow 0.7 to 1.0, compared with the signatures of 1.15.0",
    examples=(
        Example("i = tf.uniform_unit_scaling_initializer(1.0, full_shape=s)", "i = tf.uniform_unit_scaling_initializer(1.0)"),
        Example("s = tf.SparseTensor(i, v, shape=[2, 3])", "s = tf.SparseTensor(i, v, dense_shape=[2, 3])"),
        Example("c = tf.nn.rnn_cell.GRUCell(8, 4)", "c = tf.nn.rnn_cell.GRUCell(8)"),
        Example.same("c = tf.nn.rnn_cell.GRUCell(8, tf.nn.relu)", note="an activation, as 1.15 takes it"),
        Example.same("s = tf.SparseTensor(i, v, dense_shape=[2, 3])", note="the name of 1.15"),
    ),
)
def old_keyword(call: Call) -> None:
    """Renames or takes out arguments that 1.15 refuses."""
    if call.has_star_args or is_guarded(call):
        return
    name, plain = call.name.removeprefix("tensorflow."), call.positional_args
    said, gone = [], []
    for old, new in KEYWORDS[name].items():
        arg = call.arg(old)
        if arg is not None and new:
            call.rename_keyword(arg, new)
            said.append(f"{old} is called {new} since TensorFlow 1.0.")
        elif arg is not None:
            gone.append(arg)
            said.append(f"{old} is gone in TensorFlow 1.15, and had no effect any more.")
    at = SHIFTED.get(name)
    if at is not None and len(plain) > at and _is_size(plain[at].value):
        gone.append(plain[at])
        said.append("input_size is gone in TensorFlow 1.15, and had no effect any more.")
    if gone:
        call.remove_args(gone)
    if said:
        call.fixed(" ".join(said))


def _is_size(node: cst.BaseExpression) -> bool:
    """Whether an argument is a number or None, which nothing that took the place of input_size is."""
    return isinstance(node, cst.Integer) or (isinstance(node, cst.Name) and node.value == "None")


@part_of(
    old_keyword,
    matches=tuple(f"tensorflow.{name}" for name in _ABSENT),
    examples=(
        Example.same(
            "y = tf.contrib.layers.fully_connected(x, num_output_units=3, weight_init=i)",
            level="unsupported",
            write="y = tf.contrib.layers.fully_connected(x, 3, activation_fn=None, weights_initializer=i)",
        ),
        Example.same("y = tf.contrib.layers.fully_connected(x, 3, weights_initializer=i)", note="the names of 1.15"),
        Example.same("y = layers.fully_connected(x, num_output_units=3)", note="not TensorFlow's"),
    ),
)
def old_layer(call: Call) -> None:
    """Reports layers with the arguments of TensorFlow 0.7."""
    found = [name for name in _ABSENT[call.name.removeprefix("tensorflow.")] if call.arg(name) is not None]
    if found and not is_guarded(call):
        call.unsupported(
            f"TensorFlow 1.15 refuses {', '.join(found)}: write num_outputs, weights_initializer, biases_initializer and "
            "weights_regularizer, and activation_fn=None where none is given, which is relu now."
        )


@part_of(
    old_keyword,
    matches=("tensorflow.zeros_initializer", "tensorflow.ones_initializer"),
    examples=(
        Example("b = tf.Variable(tf.zeros_initializer([3]))", "b = tf.Variable(tf.zeros([3]))"),
        Example("b = tf.Variable(tf.ones_initializer(shape=[3], dtype=t))", "b = tf.Variable(tf.ones(shape=[3], dtype=t))"),
        Example.same("b = tf.get_variable('b', [3], initializer=tf.zeros_initializer())", note="as in 1.15"),
        Example.same("b = tf.get_variable('b', [3], initializer=tf.zeros_initializer)", note="1.15 calls it"),
        Example.same("i = tf.zeros_initializer(t)", note="a type, as 1.15 takes it"),
    ),
)
def initializer_of_a_shape(call: Call) -> None:
    """Writes tensors of zeros or ones where an initializer was the function that makes them."""
    first = call.args[0] if call.args else None
    is_shape = first is not None and first.keyword is None and isinstance(first.value, (cst.List, cst.Tuple))
    if call.has_star_args or is_guarded(call) or not (is_shape or call.arg("shape") is not None):
        return
    if any(arg.keyword is not None and arg.keyword.value == "partition_info" for arg in call.args):
        return call.unsupported("Initializers are made before they are told a shape since TensorFlow 1.0: write tf.zeros(shape).")
    plain = call.name.rpartition(".")[2].removesuffix("_initializer")
    call.replace_callee(call.source(call.node.func).removesuffix("_initializer"))
    return call.fixed(f"An initializer takes a type since TensorFlow 1.0; tf.{plain} makes the tensor.")


@part_of(
    old_keyword,
    matches=("tensorflow.TensorArray().pack", "tensorflow.TensorArray().unpack"),
    examples=(
        Example("a = tf.TensorArray(tf.float32, 3)\ny = a.pack()", "a = tf.TensorArray(tf.float32, 3)\ny = a.stack()"),
        Example("a = tf.TensorArray(tf.float32, 3)\nb = a.unpack(x)", "a = tf.TensorArray(tf.float32, 3)\nb = a.unstack(x)"),
        Example.same("a = tf.TensorArray(tf.float32, 3)\ny = a.stack()", note="the name of 1.15"),
        Example.same("a = frame()\na.pack()", note="of something else"),
    ),
)
def old_method(call: Call) -> None:
    """Renames methods of tensor arrays."""
    _rename(call)


@part_of(
    old_keyword,
    on="unknown_method",
    matches=("pack", "unpack"),
    examples=(
        Example("a = tf.TensorArray(tf.float32, 3)\na = a.unpack(x)", "a = tf.TensorArray(tf.float32, 3)\na = a.unstack(x)"),
        Example.same("a = open(f)\na = a.unpack(x)", note="of something else"),
        Example.same("import struct\nimport tensorflow as tf\na = struct.unpack('f', x)", note="of something else"),
    ),
)
def old_method_of_several(call: Call) -> None:
    """Renames methods of tensor arrays whose name is given to what they return."""
    owner = call.node.func.value if isinstance(call.node.func, cst.Attribute) else None
    bindings = call.scope.lookup(owner.value) if isinstance(owner, cst.Name) else []
    made = [b.node.func for b in bindings if isinstance(b.node, cst.Call)]
    is_array = [call.resolve(func) == "tensorflow.TensorArray" for func in made]
    is_of_itself = [isinstance(func, cst.Attribute) and call.source(func.value) == call.source(owner) for func in made if owner]
    if any(is_array) and len(made) == len(bindings) and all(map(max, is_array, is_of_itself)):
        _rename(call)


def _rename(call: Call) -> None:
    func = call.node.func
    if isinstance(func, cst.Attribute) and not is_guarded(call):
        new = {"pack": "stack", "unpack": "unstack"}[func.attr.value]
        call.replace(func.attr, new)
        call.fixed(f"{func.attr.value} is called {new} since TensorFlow 1.0; it does the same.")


_CELL_HOMES = ("nn.rnn_cell", "contrib.rnn")
_SEVERAL_CELLS = tuple(f"tensorflow.{home}.MultiRNNCell" for home in _CELL_HOMES)
_STATEFUL_CELLS = (
    *(f"tensorflow.{home}.{cell}" for home in _CELL_HOMES for cell in ("BasicLSTMCell", "LSTMCell")),
    *_SEVERAL_CELLS,
)
RUNS = {
    **{f"tensorflow.nn.{name}": ("cell", "initial_state") for name in ("rnn", "static_rnn", "dynamic_rnn")},
    "tensorflow.contrib.rnn.static_rnn": ("cell", "initial_state"),
}
"""APIs that run a cell, with their parameters for the cell and for the first state."""
_STATE_POSITION = {"tensorflow.nn.dynamic_rnn": 3}
"""Position of the first state among the arguments without a name; 2 for all others."""
_TENSORS = frozenset(
    f"tensorflow.{name}"
    for name in ("placeholder", "placeholder_with_default", "zeros", "ones", "constant", "concat", "Variable")
)
"""APIs that make one tensor, which cannot be a pair of states."""


@part_of(
    old_keyword,
    matches=_STATEFUL_CELLS,
    why="Before 1.0 the state of a cell was one tensor where nothing else was asked for; 1.15 wants a pair, and refuses it.",
    done_when="`tf2npu run` passes the line that runs the cell, and the first loss is that of the earlier release.",
    source="release notes of TensorFlow 1.0 (state_is_tuple), compared with the signatures of 1.15.0",
    examples=(
        Example(
            "a = tf.placeholder('float', [None, 16])\nc = tf.nn.rnn_cell.BasicLSTMCell(8)\n"
            "y, s = tf.nn.dynamic_rnn(c, x, initial_state=a)",
            "a = tf.placeholder('float', [None, 16])\nc = tf.nn.rnn_cell.BasicLSTMCell(8, state_is_tuple=False)\n"
            "y, s = tf.nn.dynamic_rnn(c, x, initial_state=a)",
        ),
        Example(
            "a = tf.zeros([4, 16])\nc = tf.nn.rnn_cell.LSTMCell(8)\ny, s = tf.nn.static_rnn(c, x, a)",
            "a = tf.zeros([4, 16])\nc = tf.nn.rnn_cell.LSTMCell(8, state_is_tuple=False)\ny, s = tf.nn.static_rnn(c, x, a)",
        ),
        Example.same(
            "c = tf.nn.rnn_cell.LSTMCell(8)\na = c.zero_state(4, tf.float32)\ny, s = tf.nn.dynamic_rnn(c, x, initial_state=a)",
            note="a state that the cell makes",
        ),
        Example.same(
            "a = tf.zeros([4, 8])\nc = tf.nn.rnn_cell.GRUCell(8)\ny, s = tf.nn.dynamic_rnn(c, x, initial_state=a)",
            note="a cell whose state is one tensor",
        ),
        Example.same(
            "a = tf.nn.rnn_cell.LSTMStateTuple(p, q)\nc = tf.nn.rnn_cell.LSTMCell(8)\n"
            "y, s = tf.nn.dynamic_rnn(c, x, initial_state=a)",
            note="a pair, as 1.15 takes it",
        ),
    ),
)
def state_of_one_tensor(call: Call) -> None:
    """Asks for the state of before 1.0 where a cell is run from one tensor."""
    if call.has_unknown_args or call.arg("state_is_tuple") is not None or is_guarded(call):
        return
    for node, scope in call.script.walked.calls:
        name = call.script.name_of(node.func, scope)
        if name in RUNS and _runs_from_a_tensor(Call(call.script, call.fix.rule, node, scope, name), call.node):
            call.add_keyword("state_is_tuple=False")
            return call.fixed(
                "The first state is one tensor, as before TensorFlow 1.0; a cell of 1.15 wants a pair unless it is told "
                "state_is_tuple=False."
            )


def _runs_from_a_tensor(run: Call, made: cst.Call) -> bool:
    """Whether a call runs the cell that was made, or one of several that it is part of, from one tensor."""
    cell, state = RUNS[run.name]
    return _is_tensor(run, run.value(state, _STATE_POSITION.get(run.name, 2))) and _has(run, run.value(cell, 0), made)


def _is_tensor(run: Call, node: Any) -> bool:
    value = _value(node, run.scope)
    return isinstance(value, cst.Call) and run.resolve(value.func) in _TENSORS


def _has(run: Call, node: Any, made: cst.Call) -> bool:
    value = _value(node, run.scope)
    if value is made:
        return True
    if not isinstance(value, cst.Call) or run.resolve(value.func) not in _SEVERAL_CELLS:
        return False
    parts = [part for part in nodes_in(value, cst.Name, cst.Call) if part is not value]
    return any(_value(part, run.scope) is made for part in parts)


def _value(node: Any, scope: Scope) -> Any:
    """The one expression that a name is bound to, or what is written out."""
    return bound_value(node, scope) if isinstance(node, cst.Name) else node
