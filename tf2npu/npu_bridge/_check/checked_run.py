"""One run of a check: its steps, its errors, and what is concluded of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from npu_bridge._check import variable_values
from npu_bridge._check.device_run import DeviceRun
from npu_bridge._check.node_errors import NodeError, OwnErrors, add_errors
from npu_bridge._check.nudged_values import EPSILON_16, EPSILON_32
from npu_bridge._check.plain_step import RanStep, kept_tensors, numbers_in, run_step
from npu_bridge._check.step_graph import StepGraph
from npu_bridge._check.stored_steps import OriginalFacts, StepValues
from npu_bridge._check.verdict import (
    OF_GRAPH_TYPES,
    RunErrors,
    Tolerances,
    Yardstick,
    as_json,
    first_of,
    is_significant,
    what_of,
)
from tensorflow.python.framework import errors_impl

from npu_runtime.config import RuntimeConfig
from npu_runtime.errors import DeviceError
from npu_runtime.importer.source_lines import users_line

_CAUSES = {"B": "conversion", "C": "kernel", "D": "fusion", "E": "precision", "F": "overflow"}


@dataclass
class Context:
    """What all runs share.  graph: of the latest step; order: tensors of all steps' graphs."""

    graph: StepGraph
    loss: str
    facts: OriginalFacts
    yardstick: Yardstick
    n_unmatched: int = 0
    order: dict[str, None] = field(default_factory=dict)

    def follow(self, graph: StepGraph) -> None:
        """Go on to the graph of the next step, which may fetch more than that before."""
        self.graph = graph
        self.order.update(dict.fromkeys(graph.tensors))

    def place(self, node: str) -> tuple[str, str, int]:
        """Op, file and line of a node: the original's, else the migrated script's."""
        known = self.facts.nodes.get(node)
        operation = self.graph.by_name.get(node)
        op = known[0] if known else operation.type if operation is not None else ""
        where = known[1] if known else users_line(operation) if operation is not None else ""
        file, _, line = where.rpartition(":")
        return op, file, int(line) if line.isdecimal() else 0

    def randomness(self, tensor: str) -> dict[str, Any]:
        op, file, line = self.place(tensor.rpartition(":")[0])
        why = "the original gave other values here in a second run with the same seeds"
        return {"node": tensor.rpartition(":")[0], "op": op, "file": file, "line": line, "why": why}

    def common(self, made: Mapping[str, np.ndarray], original: StepValues) -> list[str]:
        """Tensors that both sides have, of the same shape, in order."""
        theirs = original.tensors
        found = [
            name for name in self.graph.tensors
            if name in made and name in theirs and made[name].shape == theirs[name].shape
        ]  # fmt: skip
        self.n_unmatched = max(self.n_unmatched, len([name for name in made if name in self.order]) - len(found))
        return found

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
    if error.amplification is not None and error.amplification > 10:
        found["amplification"] = as_json(error.amplification)
    return found


class CheckedRun:
    """name: B to F.  device: None for TensorFlow's CPU.  config: the device's options."""

    def __init__(
        self, name: str, mode: str, device: DeviceRun | None, tolerances: Tolerances, context: Context,
        config: RuntimeConfig | None = None,
    ) -> None:  # fmt: skip
        self.name, self.mode, self.config = name, mode, config
        self.errors = RunErrors()
        self.failure: dict[str, Any] | None = None
        self._device, self._tolerances, self._context = device, tolerances, context
        epsilon = EPSILON_16 if tolerances is not OF_GRAPH_TYPES else EPSILON_32
        self._own = OwnErrors(epsilon, tolerances.own)
        self._firsts: list[dict[str, Any]] = []

    @property
    def key(self) -> str:
        """Its name in the table of nodes."""
        return f"{self.name} {self.mode}".strip()

    def step(
        self, session: Any, step: int, original: StepValues, sources: Mapping[str, np.ndarray],
        begins: Mapping[str, np.ndarray] | None,
    ) -> list[Any]:  # fmt: skip
        """Make one step and look at it.  begins: variables to set before it.  Returns what the script asked for."""
        if self.failure is not None:
            return []
        try:
            made = self._on_tensorflow(session, sources, begins) if self._device is None else self._device.step(
                self._context.graph, sources, begins, self._context.loss)  # fmt: skip
        except (DeviceError, errors_impl.OpError) as error:
            if self._device is None:
                raise
            self.failure = self._described(error)
            return []
        self._look(step, original, sources, made, begins if begins is not None else original.before)
        return made.fetches

    def _on_tensorflow(self, session: Any, sources: Mapping[str, np.ndarray], begins: Mapping[str, np.ndarray] | None) -> RanStep:
        graph = self._context.graph
        if begins is not None:
            variable_values.write(session, graph.variables, begins)
        return run_step(session, graph, sources, kept_tensors(graph))

    def _look(
        self, step: int, original: StepValues, sources: Mapping[str, np.ndarray], made: RanStep, before: Mapping[str, np.ndarray]
    ) -> None:  # fmt: skip
        context, found = self._context, {}
        loss = made.tensors.get(context.loss)
        self.errors.add_step(math.nan if loss is None else float(loss), original, context.facts.loss, made.after)
        common = context.common(made.tensors, original)
        add_errors(found, context.graph, made.tensors, original, common)
        shown = {name: original.tensors[name] for name in context.graph.shown if name in original.tensors}
        if self._device is None:
            theirs = {name: original.tensors[name] for name in common}
            self._own.add(context.graph, found, step, theirs, theirs, before, {**shown, **numbers_in(sources)})
        else:
            tensors = {name: value for name, value in made.tensors.items() if name in context.order}
            self._own.add(context.graph, found, step, tensors, tensors, before, {**shown, **numbers_in(sources)})
        first = first_of(found, list(context.order), self._tolerances)
        if first:
            self._firsts.append(self._first(first, step, found, made.tensors.get(first), original.tensors.get(first)))
        self._merge(found)

    def _merge(self, found: Mapping[str, NodeError]) -> None:
        for name, error in found.items():
            known = self.errors.nodes.get(name)
            if known is None or (error.own or 0.0) > (known.own or 0.0) or (error.error or 0.0) > (known.error or 0.0):
                self.errors.nodes[name] = error

    def _first(
        self, tensor: str, step: int, found: Mapping[str, NodeError], made: np.ndarray | None, original: np.ndarray | None
    ) -> dict[str, Any]:  # fmt: skip
        node, error = tensor.rpartition(":")[0], found[tensor]
        op, file, line = self._context.place(node)
        return {
            "node": node, "op": op, "dtype": "" if made is None else made.dtype.name, "file": file, "line": line, "step": step,
            "error": as_json(error.error), "own_error": as_json(error.own), "input_error": as_json(error.inputs),
            "what": what_of(error, made, original, op),
        }  # fmt: skip

    def _described(self, error: Any) -> dict[str, Any]:
        node = getattr(error, "node", None) or (error.op.name if getattr(error, "op", None) is not None else "")
        _, file, line = self._context.place(str(node))
        return {"type": type(error).__name__, "text": str(error.message), "node": str(node), "file": file, "line": line}

    def conclude(self, unlike: Sequence[str]) -> dict[str, Any]:
        """The run in the record.  unlike: sources whose values the migrated script draws otherwise."""
        yardstick = self._context.yardstick
        off = self.errors.off(self._tolerances, yardstick) if self.failure is None else []
        first = self._firsts[0] if self._firsts and off else None
        if self.name == "B" and unlike:
            first = self._data_difference(unlike[0])
        elif "" in off and first is None and self.mode:
            first = self._largest()
        cause = "" if first is None else "randomness" if yardstick.unlike else _cause(self.name, first)
        agreeing = [e for e in self.errors.nodes.values() if not is_significant(e, self._tolerances)]
        return {
            "run": self.name, "mode": self.mode, "loss": [as_json(value) for value in self.errors.loss],
            "tolerance": max(self._tolerances.loss, 10 * yardstick.loss), "loss_error": as_json(self.errors.loss_error),
            "update_error": as_json(self.errors.update_error(yardstick)), "agrees": first is None and self.failure is None,
            "compared": len(self.errors.nodes), "agreeing": len(agreeing), "first": first, "cause": cause, "off": off,
            "least_change": None, "failure": self.failure,
        }  # fmt: skip

    def _data_difference(self, tensor: str) -> dict[str, Any]:
        node = tensor.rpartition(":")[0]
        op, file, line = self._context.place(node)
        return {
            "node": node, "op": op, "dtype": "", "file": file, "line": line, "step": 0, "error": None, "own_error": None,
            "input_error": 0.0, "what": "data",
        }  # fmt: skip

    def _largest(self) -> dict[str, Any] | None:
        """Where no node is off by itself: the one that amplifies most."""
        known = {name: error for name, error in self.errors.nodes.items() if error.amplification is not None}
        name = max(known, key=lambda one: known[one].amplification or 0.0, default="")
        return self._first(name, known[name].step, known, None, None) if name else None


def _cause(run: str, first: Mapping[str, Any]) -> str:
    if run in ("E", "F") and first["what"] == "overflow":
        return "overflow"
    return "precision" if run == "F" else _CAUSES[run]
