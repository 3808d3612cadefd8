"""The places at which a script for TensorFlow 2 becomes one of several ranks: all of them are known, or none is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.file_facts import TRAINS_IN_2
from tf2npu.rules.facts.pipelines.dataset_context import context_of, holders
from tf2npu.rules.facts.pipelines.input_pipeline import function_scopes
from tf2npu.rules.facts.training.built_models import built_at
from tf2npu.rules.facts.training.loops import TRAIN, looped, roles_in_loops, trains
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

MIRRORED = (
    "tensorflow.distribute.MirroredStrategy", "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy", "tensorflow.distribute.OneDeviceStrategy",
)  # fmt: skip
_EDITS, _STRATEGIES = "NPU813", "NPU812"
"""The rules that make the edits of a plan."""
_OPTIMIZER = re.compile(r"tensorflow\.(?:keras\.)?optimizers\.(?:legacy\.|experimental\.)?[A-Z]\w+$")
_MODEL = re.compile(r"tensorflow\.keras\.(?:Model|Sequential)\(\)\.")
_OF_STRATEGY = frozenset({
    "run", "experimental_run_v2", "experimental_distribute_dataset", "experimental_distribute_datasets_from_function",
    "distribute_datasets_from_function", "make_dataset_iterator",
})  # fmt: skip
_NOT_DISTRIBUTED = frozenset({"minimize", "train_on_batch", "fit_generator"})
_BATCHES = ("tensorflow.data.Dataset().batch",)
Place = tuple[cst.CSTNode, Scope]


@dataclass
class Batch:
    """A batch that trains: its statement, what is sharded, and the argument with the size."""

    statement: cst.SimpleStatementLine
    source: cst.BaseExpression
    size: cst.Arg


@dataclass
class DistributionPlan:
    """Places by the ids of their nodes. reasons: why nothing is changed, each with its place.

    models: statements after which the variables of a model exist, with the model's name.
    """

    strategies: set[int] = field(default_factory=set)
    optimizers: set[int] = field(default_factory=set)
    strings: dict[int, cst.Arg] = field(default_factory=dict)
    gradients: set[int] = field(default_factory=set)
    batches: dict[int, Batch] = field(default_factory=dict)
    models: list[tuple[cst.CSTNode, str]] = field(default_factory=list)
    reasons: list[tuple[cst.CSTNode, Scope, str]] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether there is training, and each of its places is known."""
        return not self.reasons and bool(self.models and self.batches and (self.gradients or self.optimizers or self.strings))


@fact
def distribution_plan(script: Script) -> DistributionPlan:
    """The plan for a file; empty where it is not to be distributed, or has no part in training."""
    plan = DistributionPlan()
    facts = script.project.files.get(script.path)
    is_asked = script.config.distributed == "tf" and script.config.is_enabled(_EDITS)
    if is_asked and facts is not None and TRAINS_IN_2 in facts.flags:
        _Planner(script, plan).make()
    return plan


def _other_parts(script: Script) -> list[str]:
    """Other files that have a part in training and that a file uses, or that use it."""
    project = script.project
    parts = {path for path, facts in project.files.items() if TRAINS_IN_2 in facts.flags} - {script.path}
    used = _used_by(project, script.path) if parts else set()
    return sorted(path for path in parts if path in used or script.path in _used_by(project, path))


def _used_by(project: ProjectFacts, path: str) -> set[str]:
    """The files that a file imports, directly or through others."""
    seen, todo = {path}, [path]
    while todo:
        for target in project.imports_of(todo.pop()) - seen:
            seen.add(target)
            todo.append(target)
    return seen


class _Planner:
    def __init__(self, script: Script, plan: DistributionPlan) -> None:
        self.script, self.plan = script, plan
        self.calls = [(node, scope, script.name_of(node.func, scope) or "") for node, scope in script.walked.calls]

    def make(self) -> None:
        training = [(node, scope) for node, scope, name in self.calls if self._last(node) == "fit" and _MODEL.match(name)]
        applying = [(node, scope) for node, scope, _ in self.calls if self._last(node) == "apply_gradients"]
        others = _other_parts(self.script)
        self._strategies()
        for node, scope, name in self.calls:
            if self._last(node) in _NOT_DISTRIBUTED or (self._last(node) == "fit" and not name):
                self._refuse(node, scope, _OTHER_WAY)
        if others:
            self._refuse(self.script.tree.module, self.script.module_scope, _SPREAD.format(", ".join(others)))
        elif training and applying:
            self._refuse(*applying[0], _BOTH)
        elif training:
            self._fits(training)
        elif applying:
            self._loops(applying)
        self._batches()
        self._switched_off()
        if not self.plan.reasons and not self.plan.is_whole:
            self._refuse(self.script.tree.module, self.script.module_scope, _NOTHING_SEEN)

    def _switched_off(self) -> None:
        """Refuse where a comment or the settings keep one of the places as it is."""
        plan = self.plan
        places = {*plan.optimizers, *plan.strings, *plan.gradients, *plan.batches}
        for node, scope, _ in self.calls:
            rule = _STRATEGIES if id(node) in plan.strategies else _EDITS if id(node) in places else ""
            if rule and self.script.is_switched_off(rule, node):
                self._refuse(node, scope, _KEPT)

    def _refuse(self, node: cst.CSTNode, scope: Scope, reason: str) -> None:
        self.plan.reasons.append((node, scope, reason))

    def _strategies(self) -> None:
        for node, scope, name in self.calls:
            if name in MIRRORED and ".distribute." not in self.script.tree.source(node.func):
                self._refuse(node, scope, _BY_ITS_NAME)
            elif name in MIRRORED:
                self.plan.strategies.add(id(node))
            elif name.startswith("tensorflow.distribute.") and self._last(node) in _OF_STRATEGY:
                self._refuse(node, scope, _RUN)

    def _fits(self, training: Sequence[tuple[cst.Call, Scope]]) -> None:
        """Optimizers are wrapped, whatever way they are given to compile; each model is built before it is fitted."""
        for node, scope, name in self.calls:
            if self._last(node) == "compile" and (_MODEL.match(name) or name.startswith("user:")):
                self._compiled(Call(self.script, "", node, scope, name))
        for place, scope in training:
            func: Any = place.func
            self._model(func.value, place, scope)
            data = Call(self.script, "", place, scope).value("x", 0)
            if not self._is_sharded(data, scope):
                self._refuse(place, scope, _ARRAYS)

    def _compiled(self, call: Call) -> None:
        arg = call.arg("optimizer", 0)
        if call.has_star_args or arg is None:
            return self._refuse(call.node, call.scope, _OPTIMIZER_UNSEEN)
        value: Any = arg.value
        if isinstance(value, cst.SimpleString):
            self.plan.strings[id(call.node)] = arg
            return None
        made = value
        if isinstance(value, cst.Name):
            bindings = call.scope.lookup(value.value)
            made = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
        if not isinstance(made, cst.Call) or not self._is_optimizer(made, call.scope):
            return self._refuse(call.node, call.scope, _OPTIMIZER_UNSEEN)
        self.plan.optimizers.add(id(made))
        return None

    def _is_optimizer(self, node: cst.Call, scope: Scope) -> bool:
        return _OPTIMIZER.match(self.script.name_of(node.func, scope) or "") is not None

    def _loops(self, applying: Sequence[tuple[cst.Call, Scope]]) -> None:
        """Gradients are averaged where a tape computes them; each model is built before, and each loop goes over a shard."""
        for node, scope in applying:
            tape = self._tape(node, scope)
            if tape is None:
                self._refuse(node, scope, _GRADIENTS_UNSEEN)
                continue
            self.plan.gradients.add(id(tape))
            variables: Any = Call(self.script, "", tape, scope).value("sources", 1)
            self._model(variables.value, node, scope)
        self._handed_over(applying[0])
        loops = {id(one): (one, scope) for call, scope in self.script.walked.calls if trains(self.script, call, scope)
                 for one in self.script.walked.ancestors(call) if isinstance(one, cst.For)}  # fmt: skip
        over = [(loop, scope) for loop, scope in loops.values() if not self._counts(loop)]
        for loop, scope in over:
            if not looped(loop.iter) or not self._is_sharded(loop.iter, scope):
                self._refuse(loop.iter, scope, _LOOP_UNSEEN)
        if not over:
            self._refuse(*applying[0], _LOOP_UNSEEN)

    def _handed_over(self, place: Place) -> None:
        """Refuse where a loop of a function goes over what is handed to it, and that is no batch which is sharded."""
        names = {held for call in self._training_batches() for held in holders(call)}
        parameters = {one.name.value for node, _, _ in self.script.walked.functions for one in node.params.params}
        looped_over = {name for (_, name), roles in roles_in_loops(self.script).items() if TRAIN in roles}
        if looped_over - names - parameters:
            self._refuse(*place, _LOOP_UNSEEN)

    def _counts(self, loop: cst.For) -> bool:
        """Whether a loop counts, as over epochs."""
        return isinstance(loop.iter, cst.Call) and self._last(loop.iter) in ("range", "trange")

    def _tape(self, applied: Any, scope: Scope) -> cst.Call | None:
        """The call of a tape whose gradients of a model's variables go into `apply_gradients(zip(gradients, variables))`."""
        pairs = applied.args[0].value if len(applied.args) == 1 else None
        if not isinstance(pairs, cst.Call) or self._last(pairs) != "zip" or not pairs.args:
            return None
        made: Any = pairs.args[0].value
        if isinstance(made, cst.Name):
            bindings = scope.lookup(made.value)
            made = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
        if not isinstance(made, cst.Call) or self._last(made) != "gradient" or len(made.args) != 2:
            return None
        variables: Any = made.args[1].value
        is_known = isinstance(variables, cst.Attribute) and variables.attr.value in ("trainable_variables", "trainable_weights")
        return made if is_known else None

    def _model(self, node: Any, place: cst.CSTNode, scope: Scope) -> None:
        built = built_at(self.script, node, scope)
        if built is None:
            self._refuse(place, scope, _NOT_BUILT)
        elif built not in self.plan.models:
            self.plan.models.append(built)

    def _batches(self) -> None:
        for call in self._training_batches():
            batch = self._batch(call)
            if batch is None:
                self._refuse(call.node, call.scope, _BATCH_UNSEEN)
            else:
                self.plan.batches[id(call.node)] = batch

    def _training_batches(self) -> Iterator[Call]:
        for node, scope, name in self.calls:
            if name in _BATCHES:
                call = Call(self.script, "", node, scope, name)
                if any(self._roles(held, scope) == {TRAIN} for held in holders(call)) or context_of(call).kind in (
                    "train",
                    "endless",
                ):
                    yield call

    def _roles(self, name: str, scope: Scope) -> set[str]:
        return roles_in_loops(self.script).get((id(scope.lookup_scope(name)), name), set())

    def _is_sharded(self, data: Any, scope: Scope) -> bool:
        """Whether what is trained with is a batch that is sharded: held by a name, given by a function, or handed over."""
        name = looped(data)
        bindings = scope.lookup(name) if name else []
        batches = list(self._training_batches())
        if any(binding.kind == "param" for binding in bindings):
            return bool(batches)  # what is handed over is looked at where loops are
        if any(name in holders(call) for call in batches):
            return bool(name)
        made = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
        own = function_scopes(self.script, made.func, scope) if isinstance(made, cst.Call) else []
        return bool(own) and all(any(call.scope.is_inside(one) for call in batches) for one in own)

    def _batch(self, call: Call) -> Batch | None:
        """The statement of a batch that is assigned or returned whole, with the source of its data."""
        size = call.arg("batch_size", 0)
        ancestors = list(self.script.walked.ancestors(call.node))
        small = next((one for one in ancestors if isinstance(one, cst.BaseSmallStatement)), None)
        line = self.script.walked.parents.get(id(small)) if small is not None else None
        is_plain = (
            isinstance(small, (cst.Assign, cst.Return)) and isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
        )
        if call.has_star_args or size is None or not is_plain or not isinstance(line, cst.SimpleStatementLine):
            return None
        source: Any = call.node
        while (
            isinstance(source, cst.Call)
            and isinstance(source.func, cst.Attribute)
            and self._is_dataset(source.func.value, call.scope)
        ):
            source = source.func.value
        return Batch(line, source, size) if source is not call.node else None

    def _is_dataset(self, node: cst.BaseExpression, scope: Scope) -> bool:
        return self.script.name_of(node, scope) == "tensorflow.data.Dataset()"

    @staticmethod
    def _last(node: Any) -> str:
        func: Any = node.func
        return func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")


_BY_ITS_NAME = "the strategy is imported by its own name: write tf.distribute.MirroredStrategy"
_KEPT = "a comment or the settings keep this place as it is: take that out"
_NOTHING_SEEN = "what trains here is not seen: write fit of a Keras model, or a loop over a dataset that applies gradients"
_OTHER_WAY = "this trains in a way that is not distributed: write fit of a Keras model, or a loop that applies gradients"
_SPREAD = "optimizers, batches and training stand in several files (also {}): put them into one"
_BOTH = "it trains by fit and by a loop of its own, and each averages gradients in its own way: leave one of them out"
_RUN = "a strategy runs the step, and its loss is a part of all replicas': call the step itself, with the mean loss of its batch"
_ARRAYS = "fit gets no dataset whose batches are made here: give it a tf.data.Dataset with batch() in this file"
_OPTIMIZER_UNSEEN = (
    "the optimizer of this model is made where it is not seen: give compile a text, or an optimizer that is made in this file"
)
_GRADIENTS_UNSEEN = (
    "what is applied is not seen to come from tape.gradient(loss, model.trainable_variables): write zip(gradients, variables)"
)
_LOOP_UNSEEN = (
    "the loop that trains goes over no dataset whose batches are made here: write for batch in dataset, with batch() in this file"
)
_NOT_BUILT = (
    "the model gets its variables with its first batch: call model.build(input_shape), or give the first layer an input shape"
)
_BATCH_UNSEEN = "this batch is part of a larger expression: assign the dataset to a name, or return it"
