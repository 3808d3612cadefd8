"""The plan of which RunConfig reaches which Estimator: they are renamed together or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from tf2npu.rules.facts.reaching_definition import last_given
from tf2npu.rules.facts.relied_on_code import needed_elsewhere
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call, parameter_of

ESTIMATOR = "tensorflow.estimator.Estimator"
TPU_ESTIMATOR = "tensorflow.estimator.tpu.TPUEstimator"
RUN_CONFIG = "tensorflow.estimator.RunConfig"
CONFIG_POSITION = 2
"""The position of `config` among the arguments of tf.estimator.Estimator, counted from 0."""
RUN_CONFIG_PARAMETERS = (
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute",
    "device_fn", "protocol", "eval_distribute", "experimental_distribute", "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
)  # fmt: skip
# Parameters of RunConfig that NPURunConfig does not have, and why nothing is lost without them.
REMOVED = {
    "train_distribute": "distribution over NPUs is asked for with --distributed tf",
    "eval_distribute": "distribution over NPUs is asked for with --distributed tf",
    "experimental_distribute": "distribution over NPUs is asked for with --distributed tf",
    "device_fn": "the NPU places the graph itself",
    "protocol": "servers of a cluster are not used",
    "experimental_max_worker_delay_secs": "there are no workers that start one after another",
    "session_creation_timeout_secs": "there is no session to wait for",
}
_CANNED = {
    "BaselineClassifier": 5, "BaselineEstimator": 3, "BaselineRegressor": 4, "BoostedTreesClassifier": 13,
    "BoostedTreesEstimator": 12, "BoostedTreesRegressor": 12, "DNNClassifier": 10, "DNNEstimator": 8, "DNNRegressor": 9,
    "DNNLinearCombinedClassifier": 12, "DNNLinearCombinedEstimator": 10, "DNNLinearCombinedRegressor": 11,
    "LinearClassifier": 6, "LinearEstimator": 4, "LinearRegressor": 5,
}  # fmt: skip
_OF_CONTRIB = {
    "estimator.DNNClassifierWithLayerAnnotations": 10, "estimator.DNNRegressorWithLayerAnnotations": 9,
    "estimator.RNNClassifier": 12, "estimator.RNNEstimator": 10, "factorization.KMeansClustering": 9,
    "timeseries.ARRegressor": 12, "timeseries.StructuralEnsembleRegressor": 11, "timeseries.TimeSeriesRegressor": 4,
}  # fmt: skip
_OF_V2 = {
    "BaselineClassifier": 5, "BaselineEstimator": 3, "BaselineRegressor": 4, "DNNClassifier": 9, "DNNEstimator": 7,
    "DNNLinearCombinedClassifier": 11, "DNNLinearCombinedEstimator": 9, "DNNLinearCombinedRegressor": 10, "DNNRegressor": 8,
    "LinearClassifier": 6, "LinearEstimator": 4, "LinearRegressor": 5,
}  # fmt: skip
# Canned Estimators, and the position of `config` in TensorFlow 1.15.
CANNED = {f"tensorflow.estimator.{name}": position for name, position in _CANNED.items()}
CANNED |= {f"tensorflow.compat.v2.estimator.{name}": position for name, position in _OF_V2.items()}
CANNED |= {f"tensorflow.contrib.{name}": position for name, position in _OF_CONTRIB.items()}
MODEL_TO_ESTIMATOR = "tensorflow.keras.estimator.model_to_estimator"
WRAPPED = {**CANNED, MODEL_TO_ESTIMATOR: 4}  # what takes a RunConfig and stays, and the position of `config`


@dataclass
class EstimatorPlan:
    """Verdict for every Estimator call (by node identity), and the RunConfig calls to convert with them.

    verdict: "none" no config given, "resolved" every config it can get is a RunConfig made in this file, "kept" one of those
    cannot become an NPURunConfig, "unresolved".
    """

    verdict: dict[int, str] = field(default_factory=dict)
    configs: set[int] = field(default_factory=set)
    wrapped: set[int] = field(default_factory=set)  # RunConfig calls that an Estimator gets, wrapped where it is made


@fact
def estimator_plan(script: Script) -> EstimatorPlan:
    """The plan of a file."""
    plan = EstimatorPlan()
    for node, scope in script.walked.calls:
        name = script.name_of(node.func, scope) or ""
        if name in WRAPPED:
            config = Call(script, "NPU203", node, scope, name).arg("config", WRAPPED[name])
            plan.wrapped.update(id(o) for o, _ in (_origins(script, config.value, scope, 0) if config else None) or [])
        if name != ESTIMATOR or script.is_switched_off("NPU201", node):
            continue
        call = Call(script, "NPU201", node, scope, ESTIMATOR)
        config = call.arg("config", CONFIG_POSITION) or call.spread_arg("config")
        if call.has_unknown_args:
            plan.verdict[id(node)] = "star"
        elif config is None or script.name_of(config.value, scope) == "None":
            plan.verdict[id(node)] = "none"
        else:
            origins = _origins(script, config.value, scope, 0)
            plan.verdict[id(node)] = _verdict(script, origins or [])
            made = plan.configs if plan.verdict[id(node)] == "resolved" else plan.wrapped
            made.update(id(o) for o, _ in origins or [])
    return plan


def _verdict(script: Script, origins: list[tuple[cst.Call, Scope]]) -> str:
    if not origins or any(script.name_of(node.func, scope) != RUN_CONFIG for node, scope in origins):
        return "unresolved"
    return "resolved" if all(_is_convertible(script, node) for node, _ in origins) else "kept"


def _is_convertible(script: Script, node: cst.Call) -> bool:
    if script.is_switched_off("NPU202", node) or any(arg.star for arg in node.args):
        return False
    if sum(a.keyword is None for a in node.args) > len(RUN_CONFIG_PARAMETERS):
        return False
    removed = [arg for arg in node.args if parameter(node, arg) in REMOVED]
    return not any(needed_elsewhere(script, *script.tree.span(arg)) for arg in removed)


def removed_from_copy(node: cst.Call) -> list[cst.Arg]:
    """Arguments of RunConfig.replace that the NPU has no use for."""
    return [arg for arg in node.args if arg.keyword is not None and arg.keyword.value in REMOVED]


def parameter(node: cst.Call, arg: cst.Arg) -> str:
    """The parameter of RunConfig that an argument is for."""
    return parameter_of(node, arg, RUN_CONFIG_PARAMETERS)


def _origins(script: Script, node: Any, scope: Scope, depth: int) -> list[tuple[cst.Call, Scope]] | None:
    """The calls that make the value of an expression, or None when some source of it is unknown."""
    if depth > 10:
        return None
    if isinstance(node, cst.Name):
        return _origins_of_name(script, node, scope, depth)
    if isinstance(node, cst.IfExp):
        return _joined([_origins(script, part, scope, depth + 1) for part in (node.body, node.orelse)])
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Attribute) and script.name_of(node.func, scope) == f"{RUN_CONFIG}().replace":
        stays = any(needed_elsewhere(script, *script.tree.span(arg)) for arg in removed_from_copy(node))
        return None if stays else _origins(script, node.func.value, scope, depth + 1)
    function = _function(script, node, scope)
    if function is not None:
        return _joined([_origins(script, value, inner, depth + 1) for value, inner in function.returns])
    return [(node, scope)]


def _origins_of_name(script: Script, node: cst.Name, scope: Scope, depth: int) -> list[tuple[cst.Call, Scope]] | None:
    found = []
    bindings = scope.lookup(node.value)
    if len(bindings) > 1 and (id(scope), node.value) in _told_by_block(script):
        last = last_given(script, node, scope)
        bindings = [last] if last is not None else bindings
    for binding in bindings:
        if binding.kind != "value" or binding.scope is None:
            return None
        found.append(_origins(script, binding.node, binding.scope, depth + 1))
    return _joined(found)


@fact
def _told_by_block(script: Script) -> set[tuple[int, str]]:
    """Names of configs that are bound several times, where for each Estimator its block tells which one it gets."""
    uses: dict[tuple[int, str], bool] = {}
    for node, scope in script.walked.calls:
        position = {ESTIMATOR: CONFIG_POSITION, **WRAPPED}.get(script.name_of(node.func, scope) or "")
        config = Call(script, "NPU201", node, scope).value("config", position) if position is not None else None
        if isinstance(config, cst.Name) and len(scope.lookup(config.value)) > 1:
            key = (id(scope), config.value)
            uses[key] = uses.get(key, True) and last_given(script, config, scope) is not None
    return {key for key, is_told in uses.items() if is_told}


def _function(script: Script, node: cst.Call, scope: Scope) -> Scope | None:
    if not isinstance(node.func, cst.Name):
        return None
    bindings = scope.lookup(node.func.value)
    if len(bindings) == 1 and bindings[0].kind == "function":
        return script.walked.scope_of[id(bindings[0].node)]
    return None


def _joined(parts: list[list[tuple[cst.Call, Scope]] | None]) -> list[tuple[cst.Call, Scope]] | None:
    if not parts or any(part is None for part in parts):
        return None
    return [origin for part in parts for origin in part or []]
