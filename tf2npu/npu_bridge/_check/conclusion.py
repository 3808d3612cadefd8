"""The conclusion from a run: whether it agrees, where it first does not, the cause, and the least change that mends it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npu_bridge._check.checked_run import CheckedRun, Context, described
from npu_bridge._check.least_change_search import LeastChangeSearch, StepInputs
from npu_bridge._check.node_errors import NodeError
from npu_bridge._check.step_graph import attributes_of
from npu_bridge._check.verdict import SELF_DISTANCES, as_json, is_significant

from npu_runtime.analysis.fusion_switches import FOLDING

_CAUSES = {"B": "conversion", "C": "kernel", "D": "fusion", "E": "precision", "F": "precision"}

MADE_OF_ROUNDING = 0.1
"""Largest relative error of a variable's update that rounding explains where all inputs of the update are right: Adam divides
gradients by their size, so those that are nearly zero make steps as large as others, in a direction that rounding decides."""


@dataclass
class Conclusion:
    """unlike: sources whose values the migrated script draws otherwise than the original.

    settings_off: variables of one number that begin otherwise, and how far they are off.  deadline: of time.monotonic.
    """

    context: Context
    steps: Sequence[StepInputs]
    unlike: Sequence[str]
    settings_off: Mapping[str, float]
    deadline: float

    def documents(self, runs: Sequence[CheckedRun]) -> list[dict[str, Any]]:
        """Each run as the record has it.  What a run has from the one before is not searched again."""
        documents: list[dict[str, Any]] = []
        for run in runs:
            found = self._document(run)
            documents.append(found)
            before = self._neighbour(run, documents[:-1])
            if found["first"] is not None and run.name in "CDEF" and not self._is_random:
                self._search(run, found, before)
        return documents

    def _neighbour(self, run: CheckedRun, documents: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
        """The run that this one differs from in one thing, if that is off, too."""
        names = {"C": ("B", ""), "D": ("C", ""), "E": ("D", ""), "F": ("E", run.mode)}
        wanted = names.get(run.name)
        found = next((one for one in documents if (one["run"], one["mode"]) == wanted), None)
        return found if found is not None and not found["agrees"] else None

    @property
    def _is_random(self) -> bool:
        return bool(self.context.yardstick.unlike)

    def _document(self, run: CheckedRun) -> dict[str, Any]:
        yardstick, errors = self.context.yardstick, run.errors
        off = errors.off(run.tolerances, yardstick) if run.failure is None else []
        first = self._first(run, off)
        agreeing = sum(1 for name, error in errors.nodes.items() if self._is_right(run, name, error))
        return {
            "run": run.name, "mode": run.mode, "loss": [as_json(value) for value in errors.loss],
            "tolerance": max(run.tolerances.loss, SELF_DISTANCES * yardstick.loss), "loss_error": as_json(errors.loss_error),
            "update_error": as_json(errors.update_error(yardstick)),
            "update_tolerance": errors.update_tolerance(run.tolerances, yardstick),
            "agrees": first is None and run.failure is None,
            "compared": len(errors.nodes), "agreeing": agreeing, "first": first,
            "cause": "" if first is None else "randomness" if self._is_random else _cause(run.name, first),
            "least_change": None, "failure": run.failure,
        }  # fmt: skip

    @staticmethod
    def _is_right(run: CheckedRun, name: str, error: NodeError) -> bool:
        return name not in run.wrong and not is_significant(error, run.tolerances)

    def _first(self, run: CheckedRun, off: Sequence[str]) -> dict[str, Any] | None:
        if run.name == "B" and self.unlike:
            return {**described(self.context, self.unlike[0], 0, NodeError(inputs=0.0)), "what": "data"}
        if run.name == "B" and self.settings_off:
            name, error = next(iter(self.settings_off.items()))
            return described(self.context, f"{name}:0", 0, NodeError(error, error))
        if not off:
            return None
        if run.name == "B":
            return self._where_graphs_part(run, off)
        order = [name for name in self.context.order if name in run.significant]
        if order:
            return run.significant[order[0]]
        return self._amplifier(run) if "" in off else self._update(run, off)

    def _where_graphs_part(self, run: CheckedRun, off: Sequence[str]) -> dict[str, Any] | None:
        """The first node that makes something else than the original of what the original has, and that is in the way of what is
        off; where there is none, what updates a variable does so.
        """
        places = {name: place for place, name in enumerate(self.context.order)}
        for parting in run.parting:
            wrong = parting.wrong(parting.ends_of(off))
            found = [name for name, is_first in wrong.items() if is_first and name in run.significant]
            if found:
                first = min(found, key=lambda name: places.get(name, len(places)))
                return self._named(run, first, wrong)
        known = [
            name for name in off
            if name and run.errors.updates.get(name, 0.0) > MADE_OF_ROUNDING and not self._is_same_update(name)
        ]  # fmt: skip
        if known:
            return self._update(run, known)
        return (self._amplifier(run) or self._update(run, off)) if "" in off else None

    def _is_same_update(self, variable: str) -> bool:
        """Whether the operation that the original has changes a variable, of the same tensors: then rounding is the rest."""
        facts, ours = self.context.facts, self.context.graph.updates_of(variable)
        name = facts.updates.get(variable, "")
        theirs = facts.nodes.get(name)
        if theirs is None or len(ours) != 1:
            return False
        reads = [tensor.name for tensor in ours[0].inputs]
        return [ours[0].type, *reads] == [theirs[0], *theirs[2:]] and attributes_of(ours[0]) == facts.attributes.get(name)

    def _update(self, run: CheckedRun, off: Sequence[str]) -> dict[str, Any]:
        """The entry of the operation that changes the first variable of `off`, where nothing that it is made of is off."""
        variable = next((name for name in off if name), "")
        updates = self.context.graph.updates_of(variable)
        update = updates[0].name if updates else self.context.facts.updates.get(variable, variable)
        error = run.errors.updates.get(variable)
        return described(self.context, f"{update}:0", 0, NodeError(error, error))

    def _named(self, run: CheckedRun, first: str, wrong: Collection[str]) -> dict[str, Any]:
        """The entry of the first node; where the original has none of its name, that of the next of its line that it has."""
        told, nodes = run.significant[first], self.context.facts.nodes
        if told["node"] in nodes:
            return told
        place = told["file"], told["line"]
        line = (
            name
            for name in wrong
            if name.rpartition(":")[0] in nodes and self.context.place(name.rpartition(":")[0])[1:] == place
        )
        name = next(line, "")
        return described(self.context, name, told["step"], run.errors.nodes[name]) if name else told

    def _amplifier(self, run: CheckedRun) -> dict[str, Any] | None:
        """The entry of the node that amplifies most, where the loss is off and no node by itself; None where none is known."""
        known = {name: error for name, error in run.errors.nodes.items() if error.amplification is not None}
        name = max(known, key=lambda one: known[one].amplification or 0.0, default="")
        return described(self.context, name, known[name].step, known[name]) if name else None

    def _search(self, run: CheckedRun, found: dict[str, Any], before: dict[str, Any] | None) -> None:
        """Put the least change into the run's document, and what it tells of the first node and the cause."""
        if before is not None:  # what was wrong there is wrong here, too, and is mended there
            found["cause"], found["first"] = before["cause"], before["first"]
            return
        if run.name == "C" or time.monotonic() > self.deadline or run.device is None or run.config is None:
            return
        context = self.context
        search = LeastChangeSearch(
            run.device, run.config, run.tolerances, context.yardstick, self.steps,
            run.errors.first_wrong(run.tolerances, context.yardstick), self.deadline,
        )  # fmt: skip
        if run.name == "D":
            found["least_change"] = search.of_fusion()
        else:
            suspects = [name.rpartition(":")[0] for name in context.order if name in run.significant]
            found["least_change"] = search.of_precision(suspects)
        change = found["least_change"]
        if change is not None and change["kind"] == "nodes":
            found["first"] = self._first_of(run, change["names"]) or found["first"]
            found["cause"] = _cause(run.name, found["first"])
        elif change is not None and change["names"] == [FOLDING]:
            found["cause"] = "folding"
            found["first"] = self._folded_before(found["first"]) or found["first"]

    def _folded_before(self, first: Mapping[str, Any]) -> dict[str, Any] | None:
        """The entry of a node's first input made of constants alone, so that the device stores no such tensor in a step."""
        operation = self.context.graph.by_name.get(first["node"])
        for tensor in operation.inputs if operation is not None else ():
            if tensor.op.type != "Const" and _is_constant(tensor.op):
                return described(self.context, tensor.name, first["step"], NodeError())
        return None

    def _first_of(self, run: CheckedRun, names: Sequence[str]) -> dict[str, Any] | None:
        """The first of some nodes, in order, that has an error of its own, else the first that stored its result."""
        wanted = set(names)
        stored = [name for name in self.context.order if name.rpartition(":")[0] in wanted and name in run.errors.nodes]
        for name in stored:
            if name in run.significant:
                return run.significant[name]
        return described(self.context, stored[0], 0, run.errors.nodes[stored[0]]) if stored else None


def _cause(run: str, first: Mapping[str, Any]) -> str:
    return "overflow" if run in ("E", "F") and first["what"] == "overflow" else _CAUSES[run]


def _is_constant(operation: Any) -> bool:
    """Whether an operation reads nothing but constants, or what is made of them."""
    seen, left = {operation.name}, [operation]
    while left:
        one = left.pop()
        if not one.inputs and one.type != "Const":
            return False
        left += [tensor.op for tensor in one.inputs if tensor.op.name not in seen]
        seen.update(tensor.op.name for tensor in one.inputs)
    return True
