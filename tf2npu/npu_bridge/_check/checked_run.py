"""One run of a check: its steps, its errors, and what is concluded of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from npu_bridge._check import variable_values
from npu_bridge._check.corresponding_tensors import SAME, SUMS, CorrespondingTensors, is_rounding
from npu_bridge._check.device_run import DeviceRun
from npu_bridge._check.isolated_nodes import LatestIsolatedNodes
from npu_bridge._check.node_errors import AMPLIFIES, NodeError, OwnErrors, add_errors
from npu_bridge._check.nudged_values import EPSILON_16, EPSILON_32
from npu_bridge._check.places import OriginalPlaces
from npu_bridge._check.plain_step import RanStep, kept_tensors, numbers_in, run_step
from npu_bridge._check.step_graph import StepGraph
from npu_bridge._check.stored_steps import OriginalFacts, PartlyHeld, StepValues, loss_in
from npu_bridge._check.verdict import (
    OF_GRAPH_TYPES,
    RunErrors,
    Tolerances,
    Yardstick,
    as_json,
    is_significant,
    what_of,
)
from npu_bridge._check.where_graphs_part import PartingTensors
from tensorflow.python.framework import errors_impl

from npu_runtime.config import RuntimeConfig
from npu_runtime.errors import DeviceError
from npu_runtime.importers.tensorflow.source_lines import users_line


@dataclass
class Context:
    """State that runs share.  graph, loss: of the latest step; order: tensors of all steps' graphs.  reference: what the device's
    tensors of the latest step are held against, by the names of the migrated graph.
    """

    graph: StepGraph
    loss: str
    facts: OriginalFacts
    yardstick: Yardstick = field(default_factory=Yardstick)
    n_unmatched: int = 0
    order: dict[str, None] = field(default_factory=dict)
    reference: Mapping[str, np.ndarray] = field(default_factory=dict)
    isolated: LatestIsolatedNodes = field(default_factory=LatestIsolatedNodes)

    @cached_property
    def places(self) -> OriginalPlaces:
        return OriginalPlaces(node[1] for node in self.facts.nodes.values())

    def follow(self, graph: StepGraph, loss: str) -> None:
        """Go on to the graph of the next step, which may fetch more than that before, or train other variables."""
        self.graph, self.loss = graph, loss
        self.order.update(dict.fromkeys(graph.tensors))

    def place(self, node: str) -> tuple[str, str, int]:
        """Op, file and line of a node: the line of the original that the migrated script's was made of.

        The name alone does not tell the line: TensorFlow numbers the nodes that nobody names.
        """
        known = self.facts.nodes.get(node)
        try:
            operation = self.graph.graph.get_operation_by_name(node)  # what is fed is not executed
        except (KeyError, ValueError):
            op, where = (known[0], known[1]) if known else ("", "")
        else:
            made = users_line(operation)
            where = self.places.of(made) or (known[1] if known and known[0] == operation.type else made)
            op = operation.type
        file, _, line = where.rpartition(":")
        return op, file, int(line) if line.isdecimal() else 0

    def randomness(self, tensor: str) -> dict[str, Any]:
        op, file, line = self.place(tensor.rpartition(":")[0])
        why = "the original gave other values here in a second run with the same seeds"
        return {"node": tensor.rpartition(":")[0], "op": op, "file": file, "line": line, "why": why}

    def node_rows(self, runs: Sequence[CheckedRun]) -> list[dict[str, Any]]:
        rows = []
        for name in self.order:
            errors = {run.key: run.errors.nodes[name] for run in runs if name in run.errors.nodes}
            if errors:
                op, file, line = self.place(name.rpartition(":")[0])
                rows.append({"name": name, "op": op, "file": file, "line": line, "runs": {k: _row(e) for k, e in errors.items()}})
        return rows


def _row(error: NodeError) -> dict[str, Any]:
    found = {"error": as_json(error.error), "own_error": as_json(error.own)}
    if error.amplification is not None and error.amplification > AMPLIFIES:
        found["amplification"] = as_json(error.amplification)
    return found


def described(
    context: Context, tensor: str, step: int, error: NodeError, made: np.ndarray | None = None, original: np.ndarray | None = None
) -> dict[str, Any]:  # fmt: skip
    """The record's entry for a node that is off."""
    node = tensor.rpartition(":")[0]
    op, file, line = context.place(node)
    largest = None
    if original is not None and original.dtype.kind not in "iub" and original.size:
        largest = as_json(float(np.max(np.abs(original.astype(np.float64)))))
    return {
        "node": node, "op": op, "dtype": "" if made is None else made.dtype.name, "file": file, "line": line, "step": step,
        "error": as_json(error.error), "own_error": as_json(error.own), "input_error": as_json(error.inputs),
        "what": what_of(error, made, original, op), "largest": largest,
    }  # fmt: skip


class CheckedRun:
    """name: B to F.  device: None for TensorFlow's CPU.  config: the device's options.  tensors: where TensorFlow's are put.

    significant: what is shown of each tensor whose node has an error of its own.  parting, wrong: of each step, and
    of all steps, on TensorFlow's CPU.
    """

    def __init__(
        self, name: str, mode: str, device: DeviceRun | None, tolerances: Tolerances, context: Context,
        config: RuntimeConfig | None = None, tensors: MutableMapping[str, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.mode, self.config = name, mode, config
        self._tensors = {} if tensors is None else tensors
        self.errors = RunErrors()
        self.failure: dict[str, Any] | None = None
        self.device, self.tolerances, self._context = device, tolerances, context
        epsilon = EPSILON_16 if tolerances is not OF_GRAPH_TYPES else EPSILON_32
        self._own = OwnErrors(epsilon, tolerances.own)
        self.significant: dict[str, dict[str, Any]] = {}
        self.parting: list[PartingTensors] = []
        self.wrong: dict[str, bool] = {}

    @property
    def key(self) -> str:
        """Name of the run in the table of nodes."""
        return f"{self.name} {self.mode}".strip()

    def step(
        self, session: Any, step: int, original: StepValues, sources: Mapping[str, np.ndarray],
        begins: Mapping[str, np.ndarray] | None,
    ) -> list[Any]:  # fmt: skip
        """Make one step and look at it.  begins: variables to set before it.  Returns what the script asked for."""
        if self.failure is not None:
            return []
        try:
            made = self._on_tensorflow(session, sources, begins) if self.device is None else self.device.step(
                self._context.graph, sources, begins, self._context.loss)  # fmt: skip
        except (DeviceError, errors_impl.OpError) as error:
            self.failure = self._described(error)
            return []
        self._look(step, original, sources, made, begins if begins is not None else original.before)
        return made.fetches

    def _on_tensorflow(self, session: Any, sources: Mapping[str, np.ndarray], begins: Mapping[str, np.ndarray] | None) -> RanStep:
        graph = self._context.graph
        if begins is not None:
            variable_values.write(session, graph.variables, begins)
        self._tensors.clear()
        return run_step(session, graph, sources, kept_tensors(graph, sources), self._tensors)

    def _look(
        self, step: int, original: StepValues, sources: Mapping[str, np.ndarray], made: RanStep, before: Mapping[str, np.ndarray]
    ) -> None:  # fmt: skip
        self.errors.add_step(loss_in(made.tensors, self._context.loss), original, made.after)
        made.after = {}  # nobody looks at the variables any more
        if self.device is None:
            self._look_at_graphs(step, original, made)
        else:
            self._look_at_nodes(step, original, sources, made, before)

    def _look_at_graphs(self, step: int, original: StepValues, made: RanStep) -> None:
        """Compare the graphs on TensorFlow, where nodes compute what they say: which of them say something else than the
        original's."""
        context, graph = self._context, self._context.graph
        theirs, element = CorrespondingTensors(original.tensors, context.facts.nodes), graph.graph.as_graph_element
        errors = {name: theirs.error(element(name).op, name, value) for name, value in made.tensors.items()}
        parting = PartingTensors(graph, context.loss, errors, list(self._roundings(errors, made, original)))
        self.parting.append(parting)
        wrong = parting.wrong(parting.ends())
        right = {name: error for name, error in errors.items() if error is not None and not parting.is_off(name)}
        found = {name: NodeError(error, error) for name, error in right.items()}
        for name, is_first in wrong.items():
            known = errors[name]
            error = math.inf if known is None else known
            found[name] = NodeError(error, error if is_first else None, step=step)
            if is_first:
                theirs_here = original.tensors.get(name)
                told = described(context, name, step, found[name], made.tensors[name], theirs_here)
                self.significant.setdefault(name, told)
        context.n_unmatched = max(context.n_unmatched, len([name for name, error in errors.items() if error is None]))
        self.wrong.update(wrong)
        theirs_instead = {name: original.tensors[name] for name in wrong if name in original.tensors}
        context.reference = PartlyHeld(theirs_instead, made.tensors, made.tensors)
        self._merge(found)

    def _roundings(self, errors: Mapping[str, float | None], made: RanStep, original: StepValues) -> Iterator[str]:
        """Tensors that differ from the original's by the rounding of the terms of a sum, which cancel in it."""
        for name, error in errors.items():
            operation = self._context.graph.graph.as_graph_element(name).op
            if not error or error <= SAME or math.isinf(error) or operation.type not in SUMS:
                continue
            terms = [made.tensors[one.name] for one in operation.inputs if one.name in made.tensors]
            value, theirs = made.tensors[name].astype(np.float64), original.tensors[name]
            if is_rounding(float(np.linalg.norm(value - theirs)), terms, value.size):
                yield name

    def _look_at_nodes(
        self, step: int, original: StepValues, sources: Mapping[str, np.ndarray], made: RanStep, before: Mapping[str, np.ndarray]
    ) -> None:  # fmt: skip
        """Compare the nodes on the device: how far each is from what TensorFlow makes of its inputs."""
        context, found = self._context, {}
        reference = context.reference
        add_errors(found, context.graph, made.tensors, reference)
        graph, fed = context.graph, numbers_in(sources)
        given = PartlyHeld(fed, reference, [name for name in graph.shown if name in reference])
        fit = [name for name, value in made.tensors.items() if name in context.order and graph.fits(name, value)]
        nodes = context.isolated.of(graph)
        self._own.add(nodes, found, step, PartlyHeld({}, made.tensors, fit), before, given)
        for name in context.order:
            if name in found and is_significant(found[name], self.tolerances):
                told = described(context, name, step, found[name], made.tensors.get(name), reference.get(name))
                self.significant.setdefault(name, told)
        self._merge(found)

    def _merge(self, found: Mapping[str, NodeError]) -> None:
        for name, error in found.items():
            known = self.errors.nodes.get(name)
            if known is None or (error.own or 0.0) > (known.own or 0.0) or (error.error or 0.0) > (known.error or 0.0):
                self.errors.nodes[name] = error

    def _described(self, error: Any) -> dict[str, Any]:
        node = getattr(error, "node", None) or (error.op.name if getattr(error, "op", None) is not None else "")
        _, file, line = self._context.place(str(node))
        return {"type": type(error).__name__, "text": str(error.message), "node": str(node), "file": file, "line": line}
