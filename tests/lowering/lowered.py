"""Graphs of TensorFlow lowered for a chip, as `tf2npu predict` does it."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow.compat.v1 as tf

from npu_formats.device.chip import load_chip
from npu_runtime.lowering.lower import LoweredTask
from npu_runtime.session import Request
from npu_runtime.simulation.device_compiler import Target, lower_for
from tests.runtime.device import device_of, device_session


def lowered(
    fetches: Sequence[tf.Tensor | tf.Operation], soc: str = "Ascend910A", mode: str = "allow_mix_precision"
) -> list[LoweredTask]:
    """The tasks of a run of the default graph; every placeholder is fed in its own shape."""
    graph = tf.get_default_graph()
    fed = [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
    names = tuple(t.name for t in fetches if isinstance(t, tf.Tensor))
    targets = tuple(op.name for op in fetches if isinstance(op, tf.Operation))
    with device_session() as session:
        device = device_of(session)
        plan = device._plan_for(Request(names, targets, tuple(t.name for t in fed)))
        shapes = [tuple(t.shape.as_list()) for t in fed]
        made = lower_for(plan.main, shapes, device._placement, device._state.config, Target(load_chip(soc), mode))
    return list(made.tasks)


def types(tasks: Sequence[LoweredTask]) -> list[str]:
    """The operators of each task, joined by +."""
    return ["+".join(op.op_type for op in task.ops) for task in tasks]
