"""The host side of a function of eager code: its host nodes as functions that TensorFlow's eager context runs.

There the script's own resources are: its iterators, tables, writers of summaries, and the variables that the device cannot have.
A call is given their handles each time, as other calls of the same function may come with other iterators.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.eager import context
from tensorflow.python.framework.func_graph import FuncGraph

from npu_runtime.graph.ops import HANDLES
from npu_runtime.importers.tensorflow.host import Definition, HostFunction, HostSide

_numbers = itertools.count()
HOST_CALL = "__npu_host_call_"
"""Beginning of the names of these functions in the eager context."""


class EagerHost(HostSide):
    """Shadow graph of one function, and the calls made of it.

    func_graph: the function's graph.  definition: NodeDef of a node by name.  behind_script: called behind each call that ran
    Python of the script, which may have written any variable.
    """

    def __init__(self, func_graph: Any, definition: Definition, behind_script: Callable[[], None]) -> None:
        super().__init__(func_graph, definition, None)
        self._shadow = FuncGraph("npu_host_side")
        self._behind_script = behind_script
        self._names: list[str] = []
        self._forget = weakref.finalize(self, _remove_functions, self._names)
        self._forget.atexit = False  # the context goes with the process
        self._thread = threading.local()

    @contextmanager
    def given(self, handles: Mapping[str, Any]) -> Iterator[None]:
        """The eager handles for the calls of this thread, by the names of the placeholders that stand for them."""
        before = getattr(self._thread, "handles", {})
        self._thread.handles = handles
        try:
            yield
        finally:
            self._thread.handles = before

    def function(
        self,
        feeds: Sequence[str],
        fetches: Sequence[str],
        targets: Sequence[str],
        timeout_ms: Callable[[], int],
        ops: Sequence[str],
    ) -> HostFunction:
        """See HostSide.  A call without a limit of time: that of tf.Session's options does not exist for functions."""
        tensor = self._shadow.get_tensor_by_name
        fed, wanted = [tensor(name) for name in feeds], [tensor(name) for name in fetches]
        run = [self._shadow.get_operation_by_name(name) for name in targets]
        body, handles = _between(fed, [*(one.op for one in wanted), *run])
        name = f"{HOST_CALL}{next(_numbers)}"
        self._register(name, body, [*fed, *handles], wanted, run)
        is_script = any("PyFunc" in op for op in ops)
        types, names = [one.dtype for one in fed], [one.op.name for one in handles]

        def call(values: Sequence[np.ndarray]) -> list[np.ndarray]:
            arguments = [tf.constant(value, dtype) for value, dtype in zip(values, types, strict=True)]
            arguments += [self._thread.handles[one] for one in names]
            outputs = context.context().call_function(name.encode(), arguments, len(wanted))
            if is_script:
                self._behind_script()
            return [output.numpy() for output in outputs or ()]

        return call

    def close(self) -> None:
        """Forget the calls, as happens when the function is gone."""
        self._forget()

    def _add_functions(self) -> None:
        for function in self._user_graph._functions.values():
            self._shadow._add_function_recursive(function)

    def _register(
        self, name: str, body: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], run: Sequence[Any]
    ) -> None:  # fmt: skip
        """Make a function of a part of the shadow graph known to the eager context."""
        with self._shadow._c_graph.get() as c_graph:
            made = pywrap_tf_session.TF_GraphToFunction_wrapper(
                c_graph, name, False, [one._c_op for one in body],
                [one._as_tf_output() for one in inputs], [one._as_tf_output() for one in outputs],
                [], [one._c_op for one in run], [], None, "",
            )  # fmt: skip
        context.context().add_c_function(made)
        pywrap_tf_session.TF_DeleteFunction(made)
        self._names.append(name)


def _remove_functions(names: Sequence[str]) -> None:
    for name in names:
        context.context().remove_function(name.encode())


def _between(fed: Sequence[Any], wanted: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The operations that are run for `wanted`, and the handles that they are given."""
    sources = {one.op for one in fed}
    found: dict[Any, None] = {}
    handles: dict[Any, Any] = {}
    waiting = [one for one in wanted if one not in sources]
    while waiting:
        operation = waiting.pop()
        if operation in found or operation in sources or operation in handles:
            continue
        if operation.type == "Placeholder" and operation.outputs[0].dtype.base_dtype.name in HANDLES:
            handles[operation] = operation.outputs[0]
            continue
        found[operation] = None
        waiting += [one.op for one in operation.inputs]
        waiting += operation.control_inputs
    return list(found), list(handles.values())
