"""Watches a training script from outside: loss and duration of every step, and the variables before the first one.

Nothing in the script is edited. `tf.gradients` tells which tensor is the loss; every session call that reaches an
optimizer's update op is a training step, and the loss is fetched along with it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.client import session as session_lib
from tensorflow.python.framework.composite_tensor import CompositeTensor
from tensorflow.python.ops import gradients_util
from tensorflow.python.util import nest

v1 = tf.compat.v1
UPDATE_OP = re.compile(r"(Resource)?(Sparse)?Apply")


class Recorder:
    """Records the losses of the first graph that trains, and saves or restores its step-0 variables.

    checkpoint: prefix of a TensorFlow checkpoint; written when `restore` is False, else read back by name.
    on_traced_step: when given, every step runs traced, and it is called with (graph, ops of the step, RunMetadata).
    """

    def __init__(self, checkpoint: Path, restore: bool, on_traced_step: Callable | None = None) -> None:
        self.checkpoint, self.restore, self.on_traced_step = checkpoint, restore, on_traced_step
        self.losses: list[float] = []
        self.step_seconds: list[float] = []
        self.is_in_step = False
        self._loss_of: dict[Any, Any] = {}
        self._steps: dict[Any, bool] = {}
        self._started = False

    def install(self) -> None:
        """Wraps TensorFlow's (or the shim's) session class; call it after npu_bridge is imported."""
        self._watch_gradients()
        self._watch_run()
        self._watch_callables()

    def write(self, path: Path) -> None:
        """Writes losses and durations as JSON; Python prints a float with all the digits it has."""
        path.write_text(json.dumps({"losses": self.losses, "step_seconds": self.step_seconds}))

    @contextmanager
    def _step(self) -> Iterator[None]:
        self.is_in_step, started = True, time.perf_counter()
        yield
        self.step_seconds.append(time.perf_counter() - started)
        self.is_in_step = False

    def _note(self, graph, ops, loss: Any, metadata) -> None:
        self.losses.append(float(loss))
        if self.on_traced_step:
            self.on_traced_step(graph, ancestors([*ops, self._loss_of[graph]]), metadata)

    def _watch_gradients(self) -> None:
        original = gradients_util._GradientsHelper

        def gradients(ys, xs, *args, **kwargs):
            targets = ys if isinstance(ys, (list, tuple)) else [ys]
            self._loss_of.setdefault(targets[0].graph, targets[0])
            return original(ys, xs, *args, **kwargs)

        gradients_util._GradientsHelper = gradients

    def _watch_run(self) -> None:
        original = session_lib.BaseSession.run

        def run(session, fetches, feed_dict=None, options=None, run_metadata=None):
            ops = [session.graph.as_graph_element(f, allow_operation=True) for f in flatten(fetches)]
            if not self._is_step(session.graph, ops):
                return original(session, fetches, feed_dict, options, run_metadata)
            self._before_first_step(session, ops)
            loss = self._loss_of[session.graph]
            if self.on_traced_step:
                options, run_metadata = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), v1.RunMetadata()
            with self._step():
                values, loss_value = original(session, [fetches, loss], feed_dict, options, run_metadata)
            self._note(session.graph, ops, loss_value, run_metadata)
            return values

        session_lib.BaseSession.run = run

    def _watch_callables(self) -> None:
        original = session_lib.BaseSession._make_callable_from_options

        def make_callable(session, callable_options):
            graph = session.graph
            ops = [graph.as_graph_element(name) for name in [*callable_options.fetch, *callable_options.target]]
            if not self._is_step(graph, ops):
                return original(session, callable_options)
            name = self._loss_of[graph].name
            if name not in callable_options.fetch:
                raise AssertionError(f"the training callable does not fetch the loss {name}")
            index = list(callable_options.fetch).index(name)
            if self.on_traced_step:
                callable_options.run_options.trace_level = v1.RunOptions.FULL_TRACE
            inner = original(session, callable_options)

            def step(*args, run_metadata=None):
                self._before_first_step(session, ops)
                run_metadata = v1.RunMetadata() if self.on_traced_step else run_metadata
                with self._step():
                    values = inner(*args, run_metadata=run_metadata)
                self._note(graph, ops, values[index], run_metadata)
                return values

            return step

        session_lib.BaseSession._make_callable_from_options = make_callable

    def _is_step(self, graph, ops) -> bool:
        key = (graph, tuple(getattr(op, "name", str(op)) for op in ops))
        if key not in self._steps:
            self._steps[key] = graph in self._loss_of and any(UPDATE_OP.match(op.type) for op in ancestors(ops))
        return self._steps[key]

    def _before_first_step(self, session, ops) -> None:
        if self._started:
            return
        self._started = True
        variables = session.graph.get_collection(v1.GraphKeys.GLOBAL_VARIABLES)
        if self.restore:
            restore_variables(session, variables, self.checkpoint)
        else:
            save_variables(session, variables, self.checkpoint)


def flatten(fetches: Any) -> Iterator[Any]:
    """The leaves of what `Session.run` takes as fetches; composite tensors give their components."""
    if isinstance(fetches, dict):
        fetches = fetches.values()
    if isinstance(fetches, (list, tuple)) or type(fetches).__name__ == "dict_values":
        for fetch in fetches:
            yield from flatten(fetch)
    elif isinstance(fetches, CompositeTensor) and not hasattr(fetches, "_as_graph_element"):
        yield from nest.flatten(fetches, expand_composites=True)
    elif fetches is not None:
        yield fetches


def ancestors(elements: list[Any]) -> set[Any]:
    """All ops that must run before or for `elements` (ops or tensors), themselves included."""
    todo, seen = [getattr(e, "op", e) for e in elements], set()
    while todo:
        op = todo.pop()
        if op not in seen:
            seen.add(op)
            todo.extend([*(t.op for t in op.inputs), *op.control_inputs])
    return seen


def save_variables(session, variables, prefix: Path) -> None:
    """Writes a checkpoint with every variable under its name, without an op more in the script's graph."""
    values = session.run({v.op.name: v._as_graph_element() for v in variables})
    names = sorted(values)
    with tf.Graph().as_default(), v1.Session() as writer:
        tensors = [tf.constant(np.asarray(values[name])) for name in names]
        writer.run(tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=[""] * len(names), tensors=tensors))


def restore_variables(session, variables, prefix: Path) -> None:
    """Loads every variable of the checkpoint by name; a variable that is on one side only is an error."""
    reader = tf.train.load_checkpoint(str(prefix))
    stored, here = set(reader.get_variable_to_shape_map()), {v.op.name for v in variables}
    if stored != here:
        raise AssertionError(f"variables differ: only before {sorted(stored - here)}, only now {sorted(here - stored)}")
    for variable in variables:
        session.run(variable.initializer, {variable.initializer.inputs[1]: reader.get_tensor(variable.op.name)})
