"""States of recurrent cells that are one tensor, as they were before TensorFlow 1.0."""

from __future__ import annotations

from typing import Any

import libcst as cst
import libcst.matchers as m

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Call

_HOMES = ("nn.rnn_cell", "contrib.rnn")
_MULTI = tuple(f"tensorflow.{home}.MultiRNNCell" for home in _HOMES)
_CELLS = (*(f"tensorflow.{home}.{cell}" for home in _HOMES for cell in ("BasicLSTMCell", "LSTMCell")), *_MULTI)
RUNS = {
    **{f"tensorflow.nn.{name}": ("cell", "initial_state") for name in ("rnn", "static_rnn", "dynamic_rnn")},
    "tensorflow.contrib.rnn.static_rnn": ("cell", "initial_state"),
}
"""What runs a cell, with its parameters for the cell and for the first state."""
_STATE_POSITION = {"tensorflow.nn.dynamic_rnn": 3}
"""Where the first state stands without a name; 2 for all others."""
_TENSORS = frozenset(
    f"tensorflow.{name}"
    for name in ("placeholder", "placeholder_with_default", "zeros", "ones", "constant", "concat", "Variable")
)
"""What makes one tensor, which cannot be a pair of states."""


@rule(
    id="NPU987",
    title="Arguments of an earlier TensorFlow",
    matches=_CELLS,
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
    if not isinstance(value, cst.Call) or run.resolve(value.func) not in _MULTI:
        return False
    parts = [part for part in m.findall(value, m.Name() | m.Call()) if part is not value]
    return any(_value(part, run.scope) is made for part in parts)


def _value(node: Any, scope: Scope) -> Any:
    """The one expression that a name is bound to, or what is written out."""
    return bound_value(node, scope) if isinstance(node, cst.Name) else node
