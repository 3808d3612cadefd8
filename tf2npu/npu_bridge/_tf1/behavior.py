"""Switches TensorFlow's process-wide behaviour to graph mode, ref variables and v1 datasets, and back."""

from __future__ import annotations

from npu_bridge._tf1.journal import Journal
from tensorflow.python.compat import v2_compat
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.platform import tf_logging


def use_v1(journal: Journal) -> None:
    """Do what ``tf.compat.v1.disable_v2_behavior`` does, also when eager operations ran before."""
    level = tf_logging.get_verbosity()
    tf_logging.set_verbosity(tf_logging.ERROR)  # it warns that non-resource variables are on their way out
    try:
        v2_compat.disable_v2_behavior()
    finally:
        tf_logging.set_verbosity(level)
    _set_outermost_context(eager=False)
    journal.on_undo(use_v2)


def use_v2() -> None:
    """Switch eager execution and the rest of the v2 behaviour on again."""
    ops._default_graph_stack.reset()  # eager execution can only be switched on while there is no default graph
    v2_compat.enable_v2_behavior()
    _set_outermost_context(eager=True)


def _set_outermost_context(eager: bool) -> None:
    """Let ``init_scope`` end where a process ends that was in this mode from its start.

    Source: tensorflow/python/eager/context.py, whose stack of context switches starts with eager mode when the context was
    made in it; variables made inside a graph function would be lifted to the wrong side.
    """
    if context._context is None:
        return  # it will be made in the present mode
    switches = context._ContextSwitchStack(eager)
    old = context._context._context_switches.stack
    inner = old[1:] if old and old[0].enter_context_fn is context.eager_mode else old
    switches.stack.extend(inner)
    context._context._context_switches = switches
