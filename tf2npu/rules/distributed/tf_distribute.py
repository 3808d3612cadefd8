"""tf.distribute: with `--distributed tf` one process drives each NPU and gradients are averaged; otherwise it is reported."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.horovod.project import horovod_in
from tf2npu.frameworks.tensorflow1.estimator_names import CANNED
from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.sites import Call, Site

_TF = Config(distributed="tf")
_STRATEGY = "from npu_bridge.npu_init import npu_strategy\nnpu_strategy.NPUStrategy()"
_ASYNCHRONOUS = (
    "tensorflow.distribute.experimental.ParameterServerStrategy", "tensorflow.contrib.distribute.ParameterServerStrategy",
)  # fmt: skip
_REPLACED = (
    "tensorflow.distribute.MirroredStrategy", "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy",
    "tensorflow.contrib.distribute.MirroredStrategy", "tensorflow.contrib.distribute.CollectiveAllReduceStrategy",
    *_ASYNCHRONOUS,
)  # fmt: skip
_UNSUPPORTED = (
    "tensorflow.distribute.OneDeviceStrategy", "tensorflow.contrib.distribute.OneDeviceStrategy",
    "tensorflow.distribute.experimental.CentralStorageStrategy", "tensorflow.distribute.experimental.TPUStrategy",
    "tensorflow.contrib.distribute.TPUStrategy",
)  # fmt: skip
_TRAIN_OPTIMIZERS = (
    "Adadelta", "Adagrad", "AdagradDA", "Adam", "Ftrl", "GradientDescent", "Momentum", "ProximalAdagrad",
    "ProximalGradientDescent", "RMSProp",
)  # fmt: skip
_KERAS_OPTIMIZERS = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl")
_CONTRIB_OPTIMIZERS = ("AdamW", "MomentumW", "LazyAdam", "Nadam", "LARS", "AdaMax", "AddSign", "PowerSign", "GGT", "Shampoo")
OPTIMIZERS = (
    *(f"tensorflow.train.{name}Optimizer" for name in _TRAIN_OPTIMIZERS),
    *(f"tensorflow.keras.optimizers.{name}" for name in _KERAS_OPTIMIZERS),
    *(f"tensorflow.contrib.opt.{name}Optimizer" for name in _CONTRIB_OPTIMIZERS),
)
_WRAPPER = "npu_bridge.npu_init.npu_distributed_optimizer_wrapper"
_WRAPPERS = (_WRAPPER, "npu_bridge.npu_init.NPUDistributedOptimizer", "npu_bridge.npu_init.KerasDistributeOptimizer")
_ESTIMATORS = (
    "tensorflow.estimator.Estimator", "npu_bridge.npu_init.NPUEstimator", "tensorflow.estimator.tpu.TPUEstimator",
    *(name for name in CANNED if "BoostedTrees" not in name),  # trees are grown from a rank's own data, whatever they start from
)  # fmt: skip
_HOOKS = {
    **{f"{name}().train": 1 for name in _ESTIMATORS},
    "tensorflow.estimator.TrainSpec": 2,
    "tensorflow.estimator.EvalSpec": 3,
    "tensorflow.train.MonitoredTrainingSession": 4,
}
_VARIABLES = ("tensorflow.trainable_variables()", "tensorflow.global_variables()", "tensorflow.get_collection()")
_CALLBACKS = {"fit": 5, "fit_generator": 4}
_MODELS = ("tensorflow.keras.Model()", "tensorflow.keras.Sequential()")
_COMPILES = tuple(f"{model}.compile" for model in _MODELS)


def is_on(call: Site) -> bool:
    """Whether a file is converted for several NPUs, and is no unit test, which runs in one process."""
    return call.script.config.distributed == "tf" and not is_unit_test(call.script)


RANKS_AGREE = "Print a sum of the variables after ten steps of `tf2npu run --devices 2`: both ranks print the same number."
_RANKS_START_ALIKE = (
    "Print a sum of the variables before the first step of `tf2npu run --devices 2`: both ranks print the same number."
)


@rule(
    id="NPU411",
    title="Distribution strategy",
    matches=(*_REPLACED, *_UNSUPPORTED),
    why="On NPUs each process holds one replica; NPUStrategy stands in for a strategy that mirrors variables on one host.",
    done_when=RANKS_AGREE,
    source="npu_bridge.estimator.npu.npu_strategy.NPUStrategy; losses_utils.scale_loss_for_distribution of TensorFlow 1.15",
    examples=(
        Example("s = tf.distribute.MirroredStrategy(devices=['/gpu:0'])", "s = npu_strategy.NPUStrategy()", config=_TF),
        Example(
            "s = tf.distribute.MirroredStrategy()\nwith s.scope():\n    m = f()\n    m.compile(loss='mse')",
            "s = npu_strategy.NPUStrategy()\nwith s.scope():\n    m = f()\n    m.compile(loss='mse')",
            note="Keras divides by the number of ranks there",
            level="manual",
            config=_TF,
        ),
        Example(
            "s = tf.distribute.experimental.MultiWorkerMirroredStrategy()\nwith s.scope():\n"
            "    m = tf.keras.Sequential()\n    m.build()",
            "s = npu_strategy.NPUStrategy()\nwith s.scope():\n    m = tf.keras.Sequential()\n    m.build()",
            note="compiled elsewhere",
            level="manual",
            config=Config(distributed="tf", select=frozenset({"NPU411", "NPU100"})),
        ),
        Example(
            "s = tf.distribute.experimental.ParameterServerStrategy()\ne.train(f)",
            "s = npu_strategy.NPUStrategy()\ne.train(f)",
            note="workers did not wait for each other",
            level="manual",
            config=Config(distributed="tf", select=frozenset({"NPU411", "NPU100"})),
        ),
        Example.same("s = tf.distribute.MirroredStrategy()", note="without --distributed tf", level="manual"),
        Example.same("s = tf.distribute.OneDeviceStrategy('/gpu:0')", config=_TF, level="unsupported"),
        Example.same("s = my.distribute.MirroredStrategy()", note="the user's own", config=_TF),
    ),
)
def strategy(call: Call) -> None:
    """Uses NPUStrategy in the place of a mirrored strategy."""
    if call.script.path in horovod_in(call.script.project).of_horovod:
        return call.manual("Found beside Horovod: take one of them out, and convert again. The code stays as it is.")
    if not is_on(call):
        message = "Distribution found: convert with --distributed tf to train on several NPUs. The code stays as it is."
        return call.manual(message, _STRATEGY)
    if call.name in _UNSUPPORTED:
        return call.unsupported(
            "This strategy is not supported on NPUs: write npu_strategy.NPUStrategy(), which trains data parallel.", _STRATEGY
        )
    call.replace(call.node, f"{call.need('npu_strategy')}.NPUStrategy()")
    if call.name in _ASYNCHRONOUS:
        call.manual(
            "Workers of parameter servers move the variables one after the other, each by the gradient of its own batch. Ranks "
            "average their gradients, so that a step is that of all their batches together: check the learning rate, and divide "
            "the number of steps by get_rank_size(). Start one process for each NPU, and no parameter servers."
        )
    if not _trains_keras(call):
        return call.fixed(
            "NPUStrategy: one replica a process; how many there are is told by RANK_SIZE. A batch of the dataset is that of one "
            "rank now, not of all replicas."
        )
    call.fixed("NPUStrategy: one replica a process; how many there are is told by RANK_SIZE.")
    return call.manual(
        "Keras takes a batch for that of all replicas under a strategy; here it is that of one rank: divide the batch size by "
        "get_rank_size(), or all ranks together read as many times more in a step. In the scope of a strategy Keras divides the "
        "loss by the number of ranks, and the wrapped optimizer averages the gradients after that: a step of SGD is as many "
        "times too small. Build and compile the model outside of the scope, which a process with one replica does not need, or "
        "multiply the learning rate by get_rank_size()."
    )


def _trains_keras(call: Call) -> bool:
    """Whether a Keras model is compiled, here or in a file that this one uses, as far as a call's name and arguments tell."""
    if call.script.path in tensorflow_in(call.script.project).keras_nets:
        return True
    for node, _ in call.script.walked.calls:
        if call.resolve(node.func) in _COMPILES:
            return True
        is_method = isinstance(node.func, cst.Attribute) and node.func.attr.value == "compile"
        if is_method and {"loss", "optimizer"} & {arg.keyword.value for arg in node.args if arg.keyword}:
            return True
    return False


@part_of(
    strategy,
    on="reference",
    matches=(*_REPLACED, *_UNSUPPORTED),
    why="A class that is passed on is called somewhere else, where nothing tells which strategy it makes.",
    source="npu_bridge.estimator.npu.npu_strategy.NPUStrategy",
    examples=(
        Example.same("kinds = {'mirrored': tf.distribute.MirroredStrategy}\ns = kinds[k]()", config=_TF, level="manual"),
        Example.same("kinds = {'mirrored': tf.distribute.MirroredStrategy}\ns = kinds[k]()", note="one device", level="manual"),
        Example.same("ok = isinstance(s, tf.distribute.MirroredStrategy)", note="only asked for", config=_TF),
        Example.same("def f(s: tf.distribute.MirroredStrategy):\n    pass", note="an annotation", config=_TF),
    ),
)
def strategy_class(site: Site) -> None:
    """Reports the class of a strategy that is not called but passed on, chosen or extended."""
    if passed_on(site) is not None:
        site.manual(
            "A strategy class is passed on here and stays. For several NPUs write npu_strategy.NPUStrategy in the place of "
            "MirroredStrategy or CollectiveAllReduceStrategy; for one NPU take out the strategy."
        )


@rule(
    id="NPU412",
    title="Distributed optimizer",
    once=True,
    matches=OPTIMIZERS,
    why="Every rank computes gradients of its own data; they have to be averaged before they are applied.",
    source="npu_bridge.npu_init.npu_distributed_optimizer_wrapper",
    examples=(
        Example(
            "opt = tf.train.AdamOptimizer(1e-3)",
            "opt = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(1e-3))",
            config=_TF,
        ),
        Example.same("opt = tf.train.AdamOptimizer(1e-3)", note="one device"),
        Example.same("opt = mylib.make_Optimizer(c)", note="not TensorFlow's", config=_TF),
        Example.same(
            "class T(tf.test.TestCase):\n    def test(self):\n        opt = tf.train.AdamOptimizer(1e-3)",
            note="a test runs in one process",
            config=_TF,
        ),
    ),
)
def optimizer(call: Call) -> None:
    """Wraps an optimizer, so that gradients are averaged over the ranks."""
    if not is_on(call):
        return
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.Call) and call.resolve(ancestor.func) in (*_WRAPPERS, *OPTIMIZERS):
            return  # averaged once, by the outer one
        if not isinstance(ancestor, (cst.Arg, cst.Call)):
            break
    call.wrap_in_call(call.node, call.need("npu_distributed_optimizer_wrapper"))
    call.fixed("Gradients are averaged over the ranks.")


@rule(
    id="NPU414",
    title="Gradients",
    matches=("tensorflow.gradients",),
    why="Gradients that are applied by hand are not averaged by the wrapped optimizer's compute_gradients.",
    done_when="Each gradient that is averaged here goes into apply_gradients; on one rank all others are those of the original.",
    source="npu_bridge.npu_init.npu_allreduce",
    examples=(
        Example("g = tf.gradients(loss, v)", "g = npu_allreduce(tf.gradients(loss, v))", config=_TF),
        Example.same("g = tf.gradients(loss, v)", note="one device"),
        Example.same("g = my.gradients(loss, v)", note="not TensorFlow's", config=_TF),
    ),
)
def gradients(call: Call) -> None:
    """Averages gradients over the ranks."""
    if not is_on(call):
        return
    parent: Any = call.script.walked.parents.get(id(call.node))
    outer: Any = call.script.walked.parents.get(id(parent)) if isinstance(parent, cst.Arg) else None
    if isinstance(outer, cst.Call) and call.resolve(outer.func) == "npu_bridge.npu_init.npu_allreduce":
        return
    call.wrap_in_call(call.node, call.need("npu_allreduce"))
    call.fixed("The gradients are averaged over the ranks.")
    variables = call.value("xs", 1)
    is_known = variables is not None and call.resolve(variables) in _VARIABLES
    if not is_known and not _are_applied(call):
        call.manual(
            "Right for gradients that update variables. Take npu_allreduce out where they are used for something else, as for a "
            "gradient penalty or in reinforcement learning."
        )


def _are_applied(call: Call) -> bool:
    """Whether the variable that holds the gradients goes into apply_gradients of the same function."""
    assign: Any = call.script.walked.parents.get(id(call.node))
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    if not isinstance(target, cst.Name):
        return False
    for node, scope in call.script.walked.calls:
        applies = isinstance(node.func, cst.Attribute) and node.func.attr.value == "apply_gradients"
        if applies and scope.function is call.scope.function and re.search(rf"\b{target.value}\b", call.source(node)):
            return True
    return False


@rule(
    id="NPU415",
    title="Hooks of distributed training",
    matches=tuple(_HOOKS),
    why="All ranks must start from the same variables; a hook broadcasts those of rank 0.",
    done_when=_RANKS_START_ALIKE,
    source="npu_bridge.npu_init.npu_hooks_append",
    examples=(
        Example(
            "t = tf.estimator.TrainSpec(f, 10, (h1, h2))",
            "t = tf.estimator.TrainSpec(f, 10, npu_hooks_append(hooks_list=list((h1, h2))))",
            config=_TF,
        ),
        Example(
            "e = tf.estimator.LinearRegressor(c)\ne.train(f)",
            "e = tf.estimator.LinearRegressor(c)\ne.train(f, hooks=npu_hooks_append())",
            config=Config(distributed="tf", select=frozenset({"NPU415", "NPU100"})),
        ),
        Example("t = tf.estimator.TrainSpec(f)", "t = tf.estimator.TrainSpec(f, hooks=npu_hooks_append())", config=_TF),
        Example.same("t = tf.estimator.TrainSpec(f, 10)", note="one device"),
    ),
)
def hooks(call: Call) -> None:
    """Appends the hook that broadcasts the initial variables."""
    if not is_on(call):
        return None
    if call.has_star_args:
        return call.manual("hooks may be in *args or **kwargs: pass npu_hooks_append(hooks_list=...) by hand.")
    return _append(call, call.arg("hooks", _HOOKS[call.name]), "hooks", "npu_hooks_append")


@part_of(
    hooks,
    on="unknown_method",
    matches=("train",),
    done_when="",
    examples=(Example.same("def f(m):\n    m.train(g)", note="what m is, is not known", config=_TF, level="info"),),
)
def unknown_train(call: Call) -> None:
    """Reports train of something that may be an Estimator."""
    if is_on(call) and call.args:
        call.info("If this is an Estimator, pass hooks=npu_hooks_append(hooks_list=[...]).")


@rule(
    id="NPU416",
    title="Callbacks of distributed training",
    matches=tuple(f"{model}.{method}" for model in _MODELS for method in _CALLBACKS),
    why="All ranks must start from the same variables; a callback broadcasts those of rank 0.",
    done_when=_RANKS_START_ALIKE,
    source="npu_bridge.npu_init.npu_callbacks_append; tf.keras.Model.fit, fit_generator of TensorFlow 1.15",
    examples=(
        Example.same(
            "def f(m=None):\n    m = m or tf.keras.Model(i, o)\n    m.fit(x, y)",
            note="m may be something else",
            config=_TF,
            level="info",
        ),
        Example(
            "def f():\n    m = tf.keras.Model(i, o)\n    m.fit(x, y, 32, 10, 1, [cb], 0.1)",
            "def f():\n    m = tf.keras.Model(i, o)\n    m.fit(x, y, 32, 10, 1, npu_callbacks_append(callbacks_list=[cb]), 0.1)",
            config=_TF,
        ),
        Example.same("from sklearn.svm import SVC\nSVC().fit(x, y)", note="not Keras", config=_TF),
    ),
)
def callbacks(call: Call) -> None:
    """Appends the callback that broadcasts the initial variables."""
    if not is_on(call):
        return None
    if call.has_star_args:
        return call.manual("callbacks may be in *args or **kwargs: pass npu_callbacks_append(callbacks_list=...) by hand.")
    position = _CALLBACKS[call.name.rpartition(".")[2]]
    return _append(call, call.arg("callbacks", position), "callbacks", "npu_callbacks_append")


def _append(call: Call, arg: cst.Arg | None, keyword: str, helper: str) -> None:
    if arg is None:
        call.add_keyword(f"{keyword}={call.need(helper)}()")
    elif isinstance(arg.value, cst.Call) and call.resolve(arg.value.func) == f"npu_bridge.npu_init.{helper}":
        return
    elif call.resolve(arg.value) == "None":
        call.replace(arg.value, f"{call.need(helper)}()")
    elif isinstance(arg.value, cst.List):
        call.wrap(arg.value, f"{call.need(helper)}({keyword}_list=", ")")
    elif isinstance(arg.value, cst.Tuple):
        call.wrap(arg.value, f"{call.need(helper)}({keyword}_list=list(", "))")
    else:  # the helper drops what is not a list
        call.wrap(arg.value, f"{call.need(helper)}({keyword}_list=list(", " or ()))")
    call.fixed(f"The initial variables of rank 0 are broadcast to all ranks, by one of the {keyword}.")


@rule(
    id="NPU417",
    title="Keras compile",
    matches=_COMPILES,
    why="Every rank computes gradients of its own data; they have to be averaged before they are applied.",
    source="npu_bridge.npu_init.npu_distributed_optimizer_wrapper",
    examples=(
        Example(
            "m = tf.keras.Model(i, o)\nm.compile('adam', 'mse')",
            "m = tf.keras.Model(i, o)\nm.compile(npu_distributed_optimizer_wrapper('adam'), 'mse')",
            config=Config(distributed="tf", select=frozenset({"NPU417"})),
        ),
        Example.same("p = regex.compile('a+')", note="not Keras", config=_TF),
        Example.same("m.compile(source)", note="nothing tells that it is a Keras model", config=_TF),
    ),
)
def compile_(call: Call) -> None:
    """Wraps an optimizer that is given by its name."""
    value = call.value("optimizer", 0)
    if is_on(call) and isinstance(value, cst.SimpleString):
        call.wrap_in_call(value, call.need("npu_distributed_optimizer_wrapper"))
        call.fixed("Gradients are averaged over the ranks.")


@part_of(
    callbacks,
    on="unknown_method",
    matches=("fit", "fit_generator"),
    done_when="",
    source="npu_bridge.npu_init.npu_callbacks_append; tf.keras.Model.fit of TensorFlow 1.15",
    examples=(Example.same("def f(m):\n    m.fit(x, y)", note="what m is, is not known", config=_TF, level="info"),),
)
def unknown_fit(call: Call) -> None:
    """Reports fit of something that may be a Keras model."""
    if is_on(call):
        call.info("If this is a Keras model, pass callbacks=npu_callbacks_append(callbacks_list=[...]).")
