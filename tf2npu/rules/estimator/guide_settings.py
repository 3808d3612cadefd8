"""Settings of the porting guide that a config of an Estimator could have."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.estimator_names import ESTIMATOR, RUN_CONFIG
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import integer_of
from tf2npu.rules.facts.files.script_kinds import is_distributed
from tf2npu.rules.facts.pipelines.large_shuffles import has_large_shuffle
from tf2npu.rules.facts.sessions.estimator_plan import estimator_plan, parameter
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_NPU_CONFIG = "npu_bridge.npu_init.NPURunConfig"
_TRAINING = {
    f"{ESTIMATOR}().train": ("steps", "max_steps"),
    "npu_bridge.npu_init.NPUEstimator().train": ("steps", "max_steps"),
    "tensorflow.estimator.TrainSpec": ("max_steps",),
}
_HOOKS = {**dict.fromkeys(_TRAINING, "hooks"), "tensorflow.estimator.EstimatorSpec": "training_hooks"}
_LOG_STEPS = 100
"""log_step_count_steps of RunConfig and NPURunConfig where nothing is given."""
_CHECKPOINT_STEPS = 1000
"""Steps between checkpoints that are proposed. The default of NPURunConfig, 100, saves more often than most trainings need."""


@dataclass
class _Counts:
    """Numbers of steps that a loop on the device must divide: as they are written, and those known only when the script runs."""

    known: dict[str, int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def add(self, name: str, value: Any, scope: Any) -> None:
        """Add a count; None and 0 ask for nothing."""
        if isinstance(value, cst.Name) and value.value == "None":
            return
        count = integer_of(value, scope)
        if count is None:
            self.unknown.append(name)
        elif count > 0:
            self.known[f"{name}={count}"] = count


@rule(
    id="NPU975",
    title="Settings of the guide",
    matches=(_NPU_CONFIG, RUN_CONFIG, ESTIMATOR),
    why="The defaults of NPURunConfig are those that change a training least; the guide sets more where speed counts.",
    source="TensorFlow adapter porting guide, listing 5-36; npu_bridge.estimator.npu.npu_config.NPURunConfig",
    examples=(
        Example(
            "e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig('d'))\ne.train(f, steps=2000)",
            "e = NPUEstimator(fn, config=NPURunConfig(model_dir='d'))\ne.train(f, steps=2000)",
        ),
        Example.same(
            "from npu_bridge.npu_init import NPURunConfig\nimport tensorflow as tf\nc = NPURunConfig(save_checkpoints_steps=500)",
            level="info",
            write="from npu_bridge.npu_init import NPURunConfig\nimport tensorflow as tf\n"
            "c = NPURunConfig(save_checkpoints_steps=500, precision_mode='allow_mix_precision', enable_data_pre_proc=True, "
            "iterations_per_loop=1)",
        ),
        Example.same("c = tf.estimator.RunConfig()", note="no NPURunConfig"),
        Example.same("e = tf.estimator.DNNClassifier([4], f, config=npu_run_config_init())", note="the config stays"),
        Example.same(
            "from npu_bridge.npu_init import NPURunConfig\nimport tensorflow as tf\nc = NPURunConfig(**settings)",
            note="what is set is not seen",
        ),
    ),
)
def guide_settings(call: Call) -> None:
    """Proposes what the porting guide sets in a config of an Estimator, with the code."""
    given = _given(call)
    if given is None:
        return
    settings, counts = _settings(call, given), _counts(call.script)
    may_loop = "iterations_per_loop" not in given and "mix_compile_mode" not in given
    counts = _of_config(call, given, counts)
    steps = gcd(*counts.known.values()) if counts.known else 1
    if may_loop and steps > 1 and not counts.unknown and not _has_hooks(call.script):
        written = f"NPURunConfig(..., {', '.join([*settings, f'iterations_per_loop={steps}'])})"
        return call.info(
            f"Optional: for more speed on an NPU write {written}, and wrap the optimizer in NPULossScaleOptimizer against "
            f"float16 overflow. One run then makes {steps} steps, a number that divides {', '.join(counts.known)}."
        )
    if settings:
        written = f"NPURunConfig(..., {', '.join(settings)})"
        _without_loop(call, written, counts, may_loop)


def _without_loop(call: Call, written: str, counts: _Counts, may_loop: bool) -> None:
    if may_loop and _has_hooks(call.script):
        call.info(
            f"Optional: for more speed on an NPU write {written}, and wrap the optimizer in NPULossScaleOptimizer against "
            "float16 overflow. Leave iterations_per_loop at 1, so that the file's hooks see every step."
        )
    elif may_loop:
        names = ", ".join([*counts.known, *counts.unknown])
        call.info(
            f"Optional: for more speed on an NPU write {written}, and wrap the optimizer in NPULossScaleOptimizer against "
            f"float16 overflow. An iterations_per_loop above 1 has to divide {names}."
        )
    else:
        call.info(
            f"Optional: for more speed on an NPU write {written}, and wrap the optimizer in NPULossScaleOptimizer against "
            "float16 overflow."
        )


def _given(call: Call) -> dict[str, cst.BaseExpression] | None:
    """Arguments of the NPURunConfig that is or will be made here, by parameter; None where there is none or it is not seen."""
    plan = estimator_plan(call.script)
    if call.name == ESTIMATOR:
        return {} if plan.verdict.get(id(call.node)) == "none" else None
    if call.has_star_args or (call.name == RUN_CONFIG and id(call.node) not in plan.configs):
        return None
    if call.name == RUN_CONFIG:
        return {parameter(call.node, arg): arg.value for arg in call.args}
    return {arg.keyword.value if arg.keyword else "iterations_per_loop": arg.value for arg in call.args}


def _settings(call: Call, given: dict[str, cst.BaseExpression]) -> list[str]:
    proposed = [] if given.keys() & {"precision_mode", "precision_mode_v2"} else ["precision_mode='allow_mix_precision'"]
    if "enable_data_pre_proc" not in given and not has_large_shuffle(call.script):
        proposed.append("enable_data_pre_proc=True")
    if is_distributed(call.script) and "hcom_parallel" not in given:
        proposed.append("hcom_parallel=True")
    if not given.keys() & {"save_checkpoints_steps", "save_checkpoints_secs"}:
        proposed.append(f"save_checkpoints_steps={_CHECKPOINT_STEPS}")
    return proposed


def _of_config(call: Call, given: dict[str, cst.BaseExpression], of_file: _Counts) -> _Counts:
    """The counts of a config before those of the file."""
    counts = _Counts()
    for name in ("save_checkpoints_steps", "save_summary_steps", "log_step_count_steps"):
        if name in given:
            counts.add(name, given[name], call.scope)
    if not given.keys() & {"save_checkpoints_steps", "save_checkpoints_secs"}:
        counts.known[f"save_checkpoints_steps={_CHECKPOINT_STEPS}"] = _CHECKPOINT_STEPS
    if "log_step_count_steps" not in given:
        counts.known[f"log_step_count_steps={_LOG_STEPS}"] = _LOG_STEPS
    return _Counts({**counts.known, **of_file.known}, list(dict.fromkeys(counts.unknown + of_file.unknown)))


@fact
def _counts(script: Script) -> _Counts:
    """The numbers of steps that the trainings of a file make."""
    counts, is_trained = _Counts(), False
    for node, scope in script.walked.calls:
        name = script.name_of(node.func, scope) or ""
        call = Call(script, "NPU975", node, scope, name)
        given = [(key, value) for key in _TRAINING.get(name, ()) if (value := call.value(key)) is not None]
        is_trained = is_trained or bool(given)
        for key, value in given:
            counts.add(key, value, scope)
    if not is_trained:
        counts.unknown.append("the number of training steps")
    return counts


@fact
def _has_hooks(script: Script) -> bool:
    """Whether a file gives hooks to a training."""
    for node, scope in script.walked.calls:
        name = script.name_of(node.func, scope) or ""
        value = Call(script, "NPU975", node, scope, name).value(_HOOKS[name]) if name in _HOOKS else None
        if value is not None and script.tree.source(value) not in ("None", "[]", "()"):
            return True
    return False
