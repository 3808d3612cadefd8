"""The reference of a check: a graph on TensorFlow's own CPU kernels, with the parameters that the simulated device has.

It is called as a session of the device is. In the graph images have their channels first: TensorFlow's layout optimizer puts
transposes around kernels that take them last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from npu_bridge._check.cpu_layouts import fetched, with_transposes
from npu_bridge.npu_init import tf
from tensorflow.core.protobuf import config_pb2

from npu_formats.user_frames import is_library
from npu_runtime.device.float_status import note_overflow
from npu_runtime.device.variable import Variable
from npu_runtime.importers.tensorflow.host import HOST_SIDE_MARK
from npu_runtime.session.plan import Request

_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
_WITHOUT_KERNEL = re.compile(r"No OpKernel|\bCPU\b")
"""Words by which TensorFlow says in other errors than UnimplementedError that its CPU has no kernel for a node."""


class NoReference(RuntimeError):
    """TensorFlow's CPU has no kernel for a node."""


class ReferenceSession:
    """A graph in a session of TensorFlow.  stored: the variables of the device by their keys, whose values it takes and gives."""

    def __init__(self, graph: Any, stored: Mapping[Any, Variable]) -> None:
        self._graph, self._stored = graph, stored
        self._running: Any = None

    def run(self, request: Request, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """One step.  values: of request.feeds.  Raises: NoReference; TensorFlow's errors for all else."""
        fetches = [fetched(self._graph.get_tensor_by_name(name)) for name in request.fetches]
        if not fetches and not request.targets:
            return []
        session, variables = self._session(), self._variables()
        given = {variable.initial_value: stored.read() for variable, stored in variables.items()}
        session.run([variable.initializer for variable in variables], given)
        found = self._computed([*fetches, *request.targets], dict(zip(request.feeds, values, strict=True)))[: len(fetches)]
        for stored, value in zip(variables.values(), session.run(list(variables)), strict=True):
            stored.assign(value)
        _note_overflow(found)
        return [np.asarray(value) for value in found]

    def _variables(self) -> dict[Any, Variable]:
        """The variables of the graph that the device has, too."""
        found = {}
        for variable in self._graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
            stored = self._stored.get(("resource", variable.handle.op.get_attr("shared_name").decode()))
            if stored is not None:
                found[variable] = stored
        return found

    def _computed(self, fetches: Sequence[Any], feeds: Mapping[str, np.ndarray]) -> list[Any]:
        try:
            return self._session().run(fetches, feeds)
        except tf.errors.OpError as error:
            if isinstance(error, tf.errors.UnimplementedError) or _WITHOUT_KERNEL.search(error.message):
                raise NoReference(self._told(error.message)) from None
            raise

    def _told(self, message: str) -> str:
        """A sentence on what has no kernel: the node, its line in the program and TensorFlow's reason."""
        node = _NODE.search(message)
        reason = next(filter(None, map(str.strip, reversed(message.partition("\t [[")[0].splitlines()))), "")
        try:
            operation = self._graph.get_operation_by_name(node[1]) if node else None
        except KeyError:  # TensorFlow's optimizer has put it there
            operation = None
        what = node[1] if node else "a node"
        about = "" if operation is None else f" ({', '.join(filter(None, (operation.type, _line_of(operation))))})"
        return f"TensorFlow's CPU, which is the reference of a check, cannot compute {what}{about}: {reason}"

    def _session(self) -> Any:
        if self._running is None:
            config = config_pb2.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
            config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
            config.graph_options.rewrite_options.disable_meta_optimizer = True
            self._running = tf.Session(graph=self._graph, config=with_transposes(config, self._graph))
            setattr(self._running, HOST_SIDE_MARK, True)  # else it would be one of the device
        return self._running


def _line_of(operation: Any) -> str:
    """The line of the program that asks for a node; for one of a gradient, for the node whose gradient it is."""
    operation = operation._original_op or operation
    frames = [frame for frame in operation.traceback if not is_library(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _note_overflow(values: Sequence[Any]) -> None:
    """Lets the float status that a program reads from Python tell of results that are infinite or no numbers."""
    for value in values:
        if np.asarray(value).dtype.kind == "f" and not np.isfinite(value).all():
            note_overflow("reference")
