"""The original script's first training steps on TensorFlow's CPU: recorded, or made again from what was recorded."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from npu_bridge._check import variable_values
from npu_bridge._check.distances import distance, is_alike
from npu_bridge._check.needed_memory import needed_bytes
from npu_bridge._check.nudged_values import EPSILON_16, EPSILON_32, nudged
from npu_bridge._check.plain_step import RanStep, kept_tensors, numbers_in, run_step, sources_of
from npu_bridge._check.step_graph import Asked, StepGraph, StepGraphs, attributes_of
from npu_bridge._check.stored_steps import OriginalFacts, PartlyHeld, StepValues, StoredSteps, loss_in

from npu_formats.free_memory import free_bytes
from npu_runtime.importers.tensorflow.source_lines import users_line

AGAIN, MEMORY = "again.json", "memory.json"


def end() -> None:
    """End the script where it is: all that was asked for is there."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


class RecordedSteps:
    """Takes the original's training steps and stores them; n_steps: how many, then the script ends.

    free: gives the bytes that the machine has free, None where nobody knows.
    """

    def __init__(self, steps: StoredSteps, n_steps: int, free: Callable[[], int | None] = free_bytes) -> None:
        self._steps, self._n_steps, self._free = steps, n_steps, free
        self._graphs = StepGraphs()
        self._tensors = steps.tensor_file("original")
        self.facts = OriginalFacts()

    def step(self, session: Any, asked: Asked, feeds: Mapping[str, np.ndarray]) -> list[Any]:
        graph = self._graphs.of(session.graph, asked)
        sources = sources_of(session, graph, feeds)
        names = kept_tensors(graph, sources)
        before = variable_values.read(session, graph.variables)
        if not self.facts.steps:
            self._note_memory(needed_bytes(graph, names, sources, before))
        self._tensors.clear()
        made = run_step(session, graph, sources, names, self._tensors)
        self._steps.put(self.facts.steps, StepValues(numbers_in(sources), before, made.tensors, made.after, graph.loss))
        self._note(graph, len(graph.tensors) - len(names))
        self._note_loss(
            graph, loss_in(made.tensors, graph.loss), PartlyHeld({**numbers_in(sources), **before}, made.tensors, made.tensors)
        )
        self.close()  # after each step: the script may hang in the next
        if self.facts.steps == self._n_steps:
            end()
        return made.fetches

    def _note_memory(self, needed: int) -> None:
        """Let the command say before the first step that the machine has less than is needed."""
        free = self._free()
        if free is not None and needed > free:
            self._steps.put_document(MEMORY, {"needed": needed, "free": free})

    def _note(self, graph: StepGraph, n_left_out: int) -> None:
        facts = self.facts
        facts.steps += 1
        facts.loss = facts.loss or graph.loss
        facts.left_out = max(facts.left_out, n_left_out)
        for operation in graph.operations:
            inputs = [tensor.name for tensor in operation.inputs]
            facts.nodes.setdefault(operation.name, [operation.type, users_line(operation), *inputs])
        for variable in graph.variables:
            for update in graph.updates_of(variable.name):
                facts.updates[variable.name] = update.name
                facts.attributes[update.name] = attributes_of(update)

    def _note_loss(self, graph: StepGraph, loss: float | None, values: Mapping[str, np.ndarray]) -> None:
        facts = self.facts
        facts.losses.append(loss)
        if loss is not None and not math.isfinite(loss) and not facts.not_finite:
            order = {operation.name: number for number, operation in enumerate(graph.operations)}
            found = [name for name, value in values.items() if value.dtype.kind == "f" and not np.isfinite(value).all()]
            first = min(found, key=lambda name: order.get(name.rpartition(":")[0] or name, -1))  # what is fed is before all
            facts.not_finite = [first, str(facts.steps - 1)]

    def close(self) -> None:
        """Store what holds for all steps."""
        self._steps.put_facts(self.facts)


class RepeatedSteps:
    """Makes the recorded steps again and stores how far TensorFlow is from itself."""

    def __init__(self, steps: StoredSteps, is_free: bool) -> None:
        self._steps, self._is_free = steps, is_free
        self._facts = steps.facts()
        self._graphs = StepGraphs()
        self._document: dict[str, Any] = {"losses": [], "updates": {}, "updates_16": {}, "unlike": []}
        self._step = 0

    def step(self, session: Any, asked: Asked, feeds: Mapping[str, np.ndarray]) -> list[Any]:
        graph = self._graphs.of(session.graph, asked)
        recorded = self._steps.get(self._step)
        own = sources_of(session, graph, feeds)
        self._document["unlike"] += [
            name for name, value in own.items()
            if name in recorded.sources and name not in self._document["unlike"] and not is_alike(value, recorded.sources[name])
        ]  # fmt: skip
        sources = {name: recorded.sources.get(name, value) for name, value in own.items()}
        if not (self._is_free and self._step):
            variable_values.write(session, graph.variables, recorded.before)
        made = run_step(session, graph, sources, [name for name in graph.tensors if name == recorded.loss])
        self._compare(recorded, made)
        self._nudge(session, graph, recorded, sources)
        variable_values.write(session, graph.variables, made.after)
        self._step += 1
        if self._step == self._facts.steps:
            self.close()
            end()
        return made.fetches

    def _compare(self, recorded: StepValues, made: RanStep) -> None:
        self._document["losses"].append(loss_in(made.tensors, recorded.loss))
        self._compare_updates("updates", recorded, made, recorded.before)

    def _compare_updates(
        self, part: str, recorded: StepValues, made: RanStep, before: Mapping[str, np.ndarray]
    ) -> None:  # fmt: skip
        known = self._document[part]
        for name, value in made.after.items():
            if name in recorded.after and value.dtype.kind == "f":
                apart = distance(value - before[name], recorded.after[name] - recorded.before[name])
                known[name] = max(known.get(name, 0.0), apart)

    def _nudge(self, session: Any, graph: StepGraph, recorded: StepValues, sources: Mapping[str, np.ndarray]) -> None:
        """The step again, with every number rounded otherwise: an update that is made of rounding shows that it is."""
        for part, epsilon in (("updates", EPSILON_32), ("updates_16", EPSILON_16)):
            before = nudged(recorded.before, epsilon)
            variable_values.write(session, graph.variables, before)
            self._compare_updates(part, recorded, run_step(session, graph, nudged(sources, epsilon), []), before)

    def close(self) -> None:
        """Store what was found."""
        self._steps.put_document(AGAIN, self._document)
