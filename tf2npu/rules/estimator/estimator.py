"""Estimators: NPUEstimator with NPURunConfig, wrapped configs for the classes that stay."""

from __future__ import annotations

import libcst as cst

from tf2npu.frameworks.tensorflow1.estimator_names import CANNED, CONFIG_POSITION, ESTIMATOR, REMOVED, RUN_CONFIG, TPU_ESTIMATOR
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.sessions.estimator_plan import estimator_plan, parameter, removed_from_copy
from tf2npu.rules.facts.sessions.wrapped_run_config import is_wrapped, number_of_self, wrap_run_config
from tf2npu.scanner.sites import Call

_ESTIMATOR_PARAMETERS = ("model_fn", "model_dir", "config", "params", "warm_start_from")
_OF_TPU = {"use_tpu": 4, "eval_on_tpu": 9, "export_to_tpu": 10}  # parameters of TPUEstimator, and their positions


_DONE_WHEN = "The summary of `tf2npu run` counts the Estimator's runs on the device, and names no session on TensorFlow."
_RUNS_WITH_THE_CONFIG = "`tf2npu run` trains with the new config, and no line reads the parameter that was removed."


@rule(
    id="NPU201",
    title="Estimator",
    matches=(ESTIMATOR,),
    why="NPUEstimator writes the NPU's options into the session config and adds the hooks for loops and checkpoints.",
    done_when=_DONE_WHEN,
    source="npu_bridge.estimator.npu.npu_estimator.NPUEstimator(model_fn, model_dir, config, params, job_start_file, ...)",
    examples=(
        Example(
            "e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig(model_dir='d'))",
            "e = NPUEstimator(fn, config=NPURunConfig(model_dir='d'))",
        ),
        Example("e = tf.estimator.Estimator(model_fn=fn)", "e = NPUEstimator(model_fn=fn, config=NPURunConfig())"),
        Example(
            "e = tf.estimator.Estimator(fn, 'dir', run_config)",
            "e = tf.estimator.Estimator(fn, 'dir', npu_run_config_init(run_config=run_config))",
            note="where run_config comes from is not known here",
        ),
        Example(
            "def f(fn):\n    kw = dict(model_fn=fn, config=tf.estimator.RunConfig('d'))\n    return tf.estimator.Estimator(**kw)",
            "def f(fn):\n    kw = dict(model_fn=fn, config=NPURunConfig(model_dir='d'))\n    return NPUEstimator(**kw)",
        ),
        Example(
            "if on_tpu:\n    c = tf.contrib.tpu.RunConfig()\nelse:\n    c = tf.estimator.RunConfig(model_dir='d')\n"
            "    e = tf.estimator.Estimator(fn, config=c)",
            "if on_tpu:\n    c = tf.contrib.tpu.RunConfig()\nelse:\n    c = NPURunConfig(model_dir='d')\n"
            "    e = NPUEstimator(fn, config=c)",
            note="the block tells which config it is",
        ),
        Example(
            "c = tf.estimator.RunConfig()\nif a:\n    c = load()\ne = tf.estimator.Estimator(fn, config=c)",
            "c = tf.estimator.RunConfig()\nif a:\n    c = load()\n"
            "e = tf.estimator.Estimator(fn, config=npu_run_config_init(run_config=c))",
            note="one of two configs",
        ),
        Example(
            "c = tf.estimator.RunConfig()\nfor fn in fns:\n    e = tf.estimator.Estimator(fn, config=c)\n    c = load()",
            "c = tf.estimator.RunConfig()\nfor fn in fns:\n"
            "    e = tf.estimator.Estimator(fn, config=npu_run_config_init(run_config=c))\n    c = load()",
            note="another one from the second time on",
        ),
        Example.same(
            "for fn in fns:\n    c = NPURunConfig(model_dir='d')\n    e = NPUEstimator(fn, config=c)\n    c = None",
            note="done already",
        ),
        Example.same("e = tf.estimator.Estimator(**kw)", note="the config may be in kw", level="manual"),
        Example.same("class Estimator(object):\n    pass\ne = Estimator()", note="the user's own class"),
    ),
)
def estimator(call: Call) -> None:
    """Turns an Estimator whose config is known into an NPUEstimator."""
    verdict = estimator_plan(call.script).verdict.get(id(call.node), "star")
    if verdict == "star":
        return call.manual(
            "The config may come out of *args or **kwargs: use NPUEstimator with an NPURunConfig, "
            "or pass config=npu_run_config_init(run_config=...)."
        )
    config = call.arg("config", CONFIG_POSITION) or call.spread_arg("config")
    if verdict in ("unresolved", "kept") and config is not None:
        return _wrap(call, config, _NOT_KNOWN if verdict == "unresolved" else _KEPT)
    call.replace_callee(call.need("NPUEstimator"))
    _name_fifth(call)
    if verdict == "none":
        made = f"{call.need('NPURunConfig')}()"
        if config is None:
            call.add_keyword(f"config={made}")
        else:
            call.replace(config.value, made)
        call.info(
            "NPURunConfig writes no summaries and saves a checkpoint every 100 steps. For the defaults of RunConfig add "
            "save_summary_steps=100 and save_checkpoints_secs=600."
        )
    return call.fixed(
        "Estimator became NPUEstimator, which trains on the NPU with an NPURunConfig as its config. Nothing is left to do."
    )


_NOT_KNOWN = (
    "Where this config is made is not known here. For the NPU's own loop and checkpoint hooks make it an NPURunConfig "
    "and the Estimator an NPUEstimator."
)
_KEPT = (
    "The RunConfig it gets stays one, so its class stays too. For the NPU's own loop and checkpoint hooks make the config an "
    "NPURunConfig and the Estimator an NPUEstimator."
)


def _wrap(call: Call, config: cst.Arg, left: str) -> None:
    made_by = call.resolve(config.value)
    if made_by == "npu_bridge.npu_init.NPURunConfig()" or is_wrapped(call, config.value):
        return
    call.wrap(config.value, f"{call.need('npu_run_config_init')}(run_config=", ")")
    call.fixed(
        "The config now comes from npu_run_config_init(), which keeps your settings and runs the Estimator's sessions on the "
        "NPU; the class stays."
    )
    call.info(left)


def _name_fifth(call: Call) -> None:
    """The fifth parameter of NPUEstimator is another one, so a fifth positional gets its name."""
    positionals = call.positional_args
    for arg, name in zip(positionals[4:], _ESTIMATOR_PARAMETERS[4:], strict=False):
        call.rename_keyword(arg, name)


def _summary_default() -> str:
    return "NPURunConfig writes no summaries unless told to. To write summaries as RunConfig does, add save_summary_steps=100."


def _checkpoint_default() -> str:
    return (
        "NPURunConfig saves a checkpoint every 100 steps. To save every 10 minutes as RunConfig does, add "
        "save_checkpoints_secs=600."
    )


@rule(
    id="NPU202",
    title="RunConfig",
    matches=(RUN_CONFIG,),
    why="NPUEstimator takes only an NPURunConfig, whose parameters come in another order and lack those for GPUs and clusters.",
    done_when=_RUNS_WITH_THE_CONFIG,
    source="npu_bridge.estimator.npu.npu_config.NPURunConfig; tf.estimator.RunConfig of TensorFlow 1.15",
    examples=(
        Example(
            "c = tf.estimator.RunConfig('d', None, 100)\ne = tf.estimator.Estimator(fn, config=c)",
            "c = NPURunConfig(model_dir='d', tf_random_seed=None, save_summary_steps=100)\ne = NPUEstimator(fn, config=c)",
        ),
        Example(
            "e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig(model_dir='d', protocol='grpc'))",
            "e = NPUEstimator(fn, config=NPURunConfig(model_dir='d'))",
        ),
        Example.same("c = tf.estimator.RunConfig(save_summary_steps=50)", note="no Estimator that it reaches", level="info"),
        Example.same("c = tf.estimator.RunConfig(**kw)\ne = make(c)", note="not resolved", level="info"),
        Example.same("c = make_config()\nc = c.replace(save_summary_steps=50)", note="not a RunConfig that is made here"),
    ),
)
def run_config(call: Call) -> None:
    """Turns a RunConfig that reaches an Estimator into an NPURunConfig."""
    is_for_npu = id(call.node) in estimator_plan(call.script).configs
    if is_for_npu:
        call.replace_callee(call.need("NPURunConfig"))
        removed = [arg for arg in call.args if parameter(call.node, arg) in REMOVED]
        for arg in call.args:
            if arg.keyword is None and arg not in removed:
                call.rename_keyword(arg, parameter(call.node, arg))
        _report_defaults(call)
    else:
        removed = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value in REMOVED]
        if id(call.node) not in estimator_plan(call.script).wrapped:
            call.info(
                "No Estimator is seen to get this config, so it stays a RunConfig. If one does, "
                "npu_run_config_init(run_config=...) puts its sessions on the NPU and changes nothing else, summaries and "
                "checkpoints included."
            )
    _remove(call, removed)
    if not call.fix.changes:
        return
    if not is_for_npu:
        call.fixed("The RunConfig stays, without the arguments that have no meaning on an NPU.")
    elif removed:
        call.fixed(
            "RunConfig became NPURunConfig, the config that NPUEstimator needs. Arguments that NPURunConfig does not take are "
            "gone; a message of its own tells of each."
        )
    else:
        call.fixed("RunConfig became NPURunConfig, the config that NPUEstimator needs. Nothing is left to do.")


@part_of(
    run_config,
    matches=(f"{RUN_CONFIG}().replace",),
    why="What the NPU does not have must not come back by a changed copy of the config.",
    source="tf.estimator.RunConfig.replace of TensorFlow 1.15",
    examples=(
        Example(
            "c = tf.estimator.RunConfig('d').replace(protocol='grpc', save_summary_steps=9)\n"
            "e = tf.estimator.Estimator(fn, config=c)",
            "c = NPURunConfig(model_dir='d').replace(save_summary_steps=9)\ne = NPUEstimator(fn, config=c)",
        ),
        Example.same("c = make_config()\nc = c.replace(protocol='grpc')", note="not a RunConfig that is made here"),
    ),
)
def changed_copy(call: Call) -> None:
    """Takes out of a changed copy of a RunConfig what the NPU does not have."""
    removed = removed_from_copy(call.node)
    _remove(call, removed)
    if removed:
        call.fixed("The config fits the NPU: a copy without what the NPU does not have.")


def _remove(call: Call, removed: list[cst.Arg]) -> None:
    if removed:
        call.remove_args(removed)
    for arg in removed:
        name = parameter(call.node, arg)
        removal = f"{name}={call.source(arg.value)} was removed: {_reason(call, name)}."
        is_read = f".{name}" in call.script.text.replace(f".{name}=", "")
        if call.resolve(arg.value) == "None" or not is_read:
            call.info(removal)  # as the porting guide has it
        else:
            call.manual(f"{removal} Check lines that read {name} of the config: such lines get the default now.")


def _reason(call: Call, name: str) -> str:
    if name.endswith("distribute") and call.script.config.distributed == "tf":
        return "each NPU has a process of its own, which drives one replica"
    return REMOVED[name]


def _report_defaults(call: Call) -> None:
    given = {parameter(call.node, arg) for arg in call.args}
    if "save_summary_steps" not in given:
        call.info(_summary_default())
    if not given & {"save_checkpoints_steps", "save_checkpoints_secs"}:
        call.info(_checkpoint_default())


@rule(
    id="NPU203",
    title="Canned Estimator",
    matches=tuple(CANNED),
    why="The class stays; its sessions run on the NPU when the config carries the NpuOptimizer entry.",
    done_when=_DONE_WHEN,
    source="npu_bridge.npu_init.npu_run_config_init",
    examples=(
        Example(
            "e = tf.estimator.DNNClassifier([10], feature_columns=f)",
            "e = tf.estimator.DNNClassifier([10], feature_columns=f, config=npu_run_config_init())",
        ),
        Example(
            "e = tf.estimator.LinearRegressor(f, config=c)",
            "e = tf.estimator.LinearRegressor(f, config=npu_run_config_init(run_config=c))",
        ),
        Example(
            "e = tf.contrib.factorization.KMeansClustering(8)",
            "e = tf.contrib.factorization.KMeansClustering(8, config=npu_run_config_init())",
        ),
        Example.same("e = tf.estimator.LinearRegressor(**kw)", note="the config may be in kw", level="manual"),
        Example.same("from mylib import DNNClassifier\ne = DNNClassifier()", note="not TensorFlow's"),
    ),
)
def canned_estimator(call: Call) -> None:
    """Wraps the config of a canned Estimator."""
    wrap_run_config(call, CANNED[call.name])


@rule(
    id="NPU204",
    title="TPUEstimator",
    matches=(TPU_ESTIMATOR, f"{TPU_ESTIMATOR}.__init__"),
    why="Without use_tpu=False it looks for a TPU; without it it is an Estimator that the NPU can run.",
    done_when=_DONE_WHEN,
    source="tf.estimator.tpu.TPUEstimator of TensorFlow 1.15; npu_bridge.npu_init.npu_run_config_init",
    examples=(
        Example(
            "e = tf.contrib.tpu.TPUEstimator(fn, 'd', cfg, None, True)",
            "e = tf.contrib.tpu.TPUEstimator(fn, 'd', npu_run_config_init(run_config=cfg), None, False, "
            "eval_on_tpu=False, export_to_tpu=False)",
        ),
        Example(
            "class My(tf.contrib.tpu.TPUEstimator):\n    def __init__(self, cfg):\n        super().__init__(fn, config=cfg)",
            "class My(tf.contrib.tpu.TPUEstimator):\n    def __init__(self, cfg):\n"
            "        super().__init__(fn, config=npu_run_config_init(run_config=cfg), use_tpu=False, eval_on_tpu=False, "
            "export_to_tpu=False)",
        ),
        Example.same("e = tf.contrib.tpu.TPUEstimator(**kw)", note="everything may be in kw", level="manual"),
        Example.same("e = tpu.TPUEstimator(fn)", note="not TensorFlow's"),
    ),
)
def tpu_estimator(call: Call) -> None:
    """Switches the TPU off and wraps the config."""
    if call.has_star_args:
        return call.manual("Pass use_tpu=False, eval_on_tpu=False, export_to_tpu=False and a wrapped config by hand.")
    first = number_of_self(call)
    values = {name: call.value(name, first + position) for name, position in _OF_TPU.items()}
    switched = [name for name, value in values.items() if value is None or call.resolve(value) != "False"]
    settings = ", ".join(f"{name}=False" for name in switched)
    wrap_run_config(call, first + CONFIG_POSITION, f"; it looks for no TPU: {settings}" if switched else "")
    for name in switched:
        value = values[name]
        if value is None:
            call.add_keyword(f"{name}=False")
        else:
            call.replace(value, "False")
    if call.fix.changes and not call.fix.findings:
        call.fixed(f"The Estimator no longer looks for a TPU: {settings}.")
    return None


@rule(
    id="NPU206",
    title="EstimatorSpec with a host call",
    matches=("tensorflow.estimator.EstimatorSpec",),
    why="Only NPUEstimatorSpec takes host_call, a function that runs on the host after each step.",
    source="npu_bridge.estimator.npu.npu_estimator.NPUEstimatorSpec",
    examples=(
        Example(
            "s = tf.estimator.EstimatorSpec(m, loss=l, host_call=(f, [l]))", "s = NPUEstimatorSpec(m, loss=l, host_call=(f, [l]))"
        ),
        Example.same("s = tf.estimator.EstimatorSpec(m, loss=l)", note="no host call"),
        Example.same("s = my.EstimatorSpec(m, loss=l, host_call=(f, [l]))", note="the user's own"),
    ),
)
def estimator_spec(call: Call) -> None:
    """Renames an EstimatorSpec that has a host call."""
    if call.arg("host_call") is not None:
        call.replace_callee(call.need("NPUEstimatorSpec"))
        call.fixed("NPUEstimatorSpec runs the host call after each step.")
