"""The training steps of a program under `tf2npu check`, written down as they are made: losses, gradients and updates.

A step is a call of an optimizer. As a graph is traced, the optimizer is noted with the gradients that it is given, and
GradOperation with the loss; the runs of such a graph fetch these too. In all other processes nothing is noted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from mindspore._device import check_role
from mindspore._device.structure import flat
from mindspore._device.tensor_sketches import sketch
from mindspore._device.trace import Trace, current_trace, outermost_trace
from npu_bridge.npu_init import tf

from npu_formats.documents.written_steps import StepsFile, as_json, place_of
from npu_formats.user_frames import calling_line

SEED = 20210
"""Any number serves, as long as each run has the same."""


class Loss(NamedTuple):
    """The tensor whose gradient is taken, None for one of a branch, and the line that asks for it."""

    node: Any
    line: str


class Update(NamedTuple):
    """A call of an optimizer in a graph.

    gradients: a tensor for each of its parameters, None for one of a branch.  tests: of the branches in which the call stands,
    each with the value for which it is made.  loss: noted before.
    """

    optimizer: Any
    gradients: list[Any]
    tests: list[tuple[Any, bool]]
    loss: Loss | None
    line: str


def begin() -> None:
    """Seed what the program may not seed, and note how it ends, in a process of a check."""
    if check_role.is_asked():
        from mindspore.common.seed import set_seed
        from npu_bridge._check import seeds

        from npu_runtime.exit_handlers import at_process_end

        seeds.install()
        set_seed(SEED)
        _recorder().file.watch_failure()
        at_process_end(_recorder().end)


def note_loss(outputs: Any) -> None:
    """The first floating tensor among the outputs of a function whose gradient is taken."""
    if check_role.is_asked():
        node = next((one for one in flat(outputs) if isinstance(one, tf.Tensor) and one.dtype.is_floating), None)
        outermost_trace().loss = Loss(_copied(node), calling_line())


@contextlib.contextmanager
def noted_update(optimizer: Any, inputs: Sequence[Any]) -> Iterator[None]:
    """Nodes that are traced within are an update of an optimizer; updates within are parts of it.  inputs: of its call."""
    if not check_role.is_asked() or current_trace().is_replayed or outermost_trace().is_updating:
        yield
        return
    trace = outermost_trace()
    given = [getattr(one, "node", None) for one in flat(inputs[0])] if inputs else []
    parameters = list(optimizer.parameters)
    gradients = list(map(_copied, given)) if len(given) == len(parameters) else [None] * len(parameters)
    trace.updates.append(Update(optimizer, gradients, _tests(), trace.loss, calling_line()))
    trace.is_updating = True
    try:
        yield
    finally:
        trace.is_updating = False


def _copied(node: Any) -> Any:
    """A tensor that a run can fetch; None for one of a branch or loop, which may have no value."""
    if node is None or node.op._get_control_flow_context() is not outermost_trace().place:
        return None
    with outermost_trace().within():
        return tf.identity(node)


def _tests() -> list[tuple[Any, bool]]:
    """The tests of the branches that are being traced, with the value for which each is taken."""
    found, context = [], tf.get_default_graph()._get_control_flow_context()
    while context is not None:
        if hasattr(context, "branch") and context.outer_context is None:  # a test within a branch is no value of the graph
            found.append((context.pred.op.inputs[0], bool(context.branch)))  # what TensorFlow copies, which can be fetched
        context = context.outer_context
    return found


class WatchedGraph:
    """A graph that takes gradients or calls optimizers: its runs are written down."""

    def __init__(self, trace: Trace) -> None:
        self._updates, self._loss = trace.updates, trace.loss
        losses = [update.loss for update in self._updates if update.loss is not None]
        noted = [one.node for one in (*losses, self._loss) if one is not None]
        for update in self._updates:
            noted += [*update.gradients, *(test for test, _ in update.tests)]
        self._nodes = {node.name: node for node in noted if node is not None}
        made = (tensor for operation in trace.device.graph.get_operations() for tensor in operation.outputs)
        self._is_half = any(tensor.dtype == tf.float16 for tensor in made)

    def run(
        self, fetches: Sequence[Any], targets: Sequence[Any], feeds: Sequence[Any], values: Sequence[np.ndarray], device: Any
    ) -> list[np.ndarray]:  # fmt: skip
        """The values of `fetches`, as the device gives them."""
        before = [[sketch(one.asnumpy()) for one in update.optimizer.parameters] for update in self._updates]
        found = device.run([*fetches, *self._nodes.values()], targets, feeds, values)
        seen = dict(zip(self._nodes, found[len(fetches) :], strict=True))
        recorder = _recorder()
        recorder.is_half |= self._is_half
        for update, values_before in zip(self._updates, before, strict=True):
            if update.loss is not None:
                recorder.note_loss(update.loss, seen)
            recorder.note_update(update, values_before, seen)
        if self._loss is not None and not any(update.loss is self._loss for update in self._updates):
            recorder.note_loss(self._loss, seen)
        return found[: len(fetches)]


def watched(trace: Trace) -> WatchedGraph | None:
    """The graph that was traced, where its runs are written down."""
    return WatchedGraph(trace) if trace.updates or trace.loss is not None else None


@cache
def _recorder() -> _Recorder:
    return _Recorder(StepsFile.of_request(check_role.request() or {}))


class _Recorder:
    """file: into which the steps are written."""

    def __init__(self, file: StepsFile) -> None:
        self.file = file
        self.is_half = False
        self._loss: float | None = None
        self._loss_line = ""
        self._n_losses = self._left_out = 0

    def note_loss(self, loss: Loss, seen: dict[str, np.ndarray]) -> None:
        """A gradient was computed of a loss, whose sum it is where it has several elements."""
        self._n_losses += 1
        self._loss_line = loss.line
        self._loss = None if loss.node is None else float(np.asarray(seen[loss.node.name], np.float64).sum())

    def note_update(self, update: Update, before: list[Any], seen: dict[str, np.ndarray]) -> None:
        """An optimizer was called, or was left out as a test says.  before: sketches of its parameters."""
        if any(bool(np.all(seen[test.name])) is not value for test, value in update.tests):
            self._left_out += 1
        elif self.file.is_of_this_process:
            self.file.put(self._step(update, before, seen))
            self._left_out = 0
        self._loss, self._n_losses = None, 0

    def _step(self, update: Update, before: list[Any], seen: dict[str, np.ndarray]) -> dict[str, Any]:
        (file, line), (loss_file, loss_line) = place_of(update.line), place_of(self._loss_line)
        gradients = [None if node is None else sketch(seen[node.name]) for node in update.gradients]
        told = [
            {
                "name": parameter.name, "dtype": str(parameter.asnumpy().dtype), "before": was, "gradient": gradient,
                "device": "cpu" if check_role.is_reference() else "npu", "after": sketch(parameter.asnumpy()),
            }
            for parameter, was, gradient in zip(update.optimizer.parameters, before, gradients, strict=True)
        ]  # fmt: skip
        return {
            "optimizer": type(update.optimizer).__name__, "parameters": told, "groups": [], "loss": as_json(self._loss),
            "is_half": self.is_half, "left_out": self._left_out, "file": file, "line": line, "backward_file": loss_file,
            "backward_line": loss_line,
        }  # fmt: skip

    def end(self) -> None:
        """Write down that the program is over before its steps were all made."""
        self.file.end(n_backward=self._n_losses, left_out=self._left_out)
