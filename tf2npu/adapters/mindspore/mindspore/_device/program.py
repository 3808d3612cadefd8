"""Programs of the device: a Python function is traced once for each set of shapes and types, and its graph is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from mindspore._device.checked_steps import WatchedGraph, watched
from mindspore._device.session import DeviceGraph
from mindspore._device.structure import flat, nesting, rebuilt
from mindspore._device.trace import new_trace
from mindspore.common.tensor import Tensor
from npu_bridge.npu_init import tf


class Program(NamedTuple):
    """A traced function.

    device: its graph.  fetches: the tensors among its results, by number.  written: operations that write parameters.
    holders: of what is fed.  fed: which leaves of the arguments are.  outputs: what the function gave.  results: its leaves.
    watched: writes its runs down for a check.  function: kept, as the key of the program has the identity of it or of its parts.
    """

    device: DeviceGraph
    fetches: dict[int, Any]
    written: list[Any]
    holders: list[Any]
    fed: list[bool]
    outputs: Any
    results: list[Any]
    watched: WatchedGraph | None
    function: Callable[..., Any]

    def run(self, values: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
        """The values of the tensors among the results, by number.  values: of what is fed."""
        asked = list(self.fetches.values()), self.written, self.holders, values
        found = self.device.run(*asked) if self.watched is None else self.watched.run(*asked, self.device)
        return dict(zip(self.fetches, found, strict=True))


_programs: dict[Any, Program] = {}


def run_traced(key: Any, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The result of a function of tensors.  key: tells it from all others; shapes, types and parameters are added to it.

    A parameter that the function gives is itself the result, as in r1.1, with the value that it has when it is read.
    """
    leaves = flat(arguments)
    whole_key = (key, tuple(map(_of_leaf, leaves)), nesting(arguments))
    program = _programs.get(whole_key)
    if program is None:
        program = _programs[whole_key] = _traced(function, arguments, leaves)
    values = program.run([leaf.value() for leaf, is_fed in zip(leaves, program.fed, strict=True) if is_fed])
    results = (Tensor(values[i]) if i in values else one for i, one in enumerate(program.results))
    return rebuilt(program.outputs, results)


def _of_leaf(leaf: Any) -> Any:
    if not isinstance(leaf, Tensor):
        return type(leaf).__name__, repr(leaf)
    return leaf if leaf.is_parameter else (leaf.shape, leaf.dtype)


def _traced(function: Callable[..., Any], arguments: Sequence[Any], leaves: Sequence[Any]) -> Program:
    with new_trace() as trace:
        fed = [isinstance(leaf, Tensor) and not leaf.is_parameter for leaf in leaves]
        inputs = [
            Tensor(tf.placeholder(leaf.value().dtype, leaf.shape)) if is_fed else leaf
            for leaf, is_fed in zip(leaves, fed, strict=False)
        ]
        outputs = function(*rebuilt(arguments, iter(inputs)))
        results = [tf.identity(one.raw()) if isinstance(one, Tensor) and not one.is_parameter else one for one in flat(outputs)]
        fetches = {i: one for i, one in enumerate(results) if isinstance(one, tf.Tensor)}
        holders = [tensor.raw() for tensor, is_fed in zip(inputs, fed, strict=False) if is_fed]
    assert trace.device is not None
    return Program(trace.device, fetches, trace.written, holders, fed, outputs, results, watched(trace), function)
