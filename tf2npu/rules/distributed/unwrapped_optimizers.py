"""Optimizers that are made where nothing wraps them, with `--distributed tf`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.distributed.tf_distribute import OPTIMIZERS, RANKS_AGREE, is_on, optimizer
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.sites import Call, Site

_TF = Config(distributed="tf")
_BASES = ("tensorflow.train.Optimizer", "tensorflow.keras.optimizers.Optimizer")
_SINGLE = {
    "estimator.BaselineClassifier": 4, "estimator.BaselineEstimator": 2, "estimator.BaselineRegressor": 3,
    "estimator.DNNClassifier": 6, "estimator.DNNEstimator": 4, "estimator.DNNRegressor": 5, "estimator.LinearClassifier": 5,
    "estimator.LinearEstimator": 3, "estimator.LinearRegressor": 4, "contrib.estimator.RNNClassifier": 10,
    "contrib.estimator.RNNEstimator": 9, "contrib.estimator.DNNClassifierWithLayerAnnotations": 6,
    "contrib.estimator.DNNRegressorWithLayerAnnotations": 5,
}  # fmt: skip
_COMBINED = {"Classifier": (2, 4), "Estimator": (3, 5), "Regressor": (2, 4)}
# Parameters of canned Estimators that take an optimizer, with their positions in TensorFlow 1.15.
CANNED_OPTIMIZERS = {f"tensorflow.{name}": {"optimizer": position} for name, position in _SINGLE.items()}
CANNED_OPTIMIZERS |= {
    f"tensorflow.estimator.DNNLinearCombined{kind}": {"linear_optimizer": linear, "dnn_optimizer": dnn}
    for kind, (linear, dnn) in _COMBINED.items()
}


@part_of(
    optimizer,
    on="reference",
    matches=(*OPTIMIZERS, *_BASES),
    done_when=RANKS_AGREE,
    examples=(
        Example.same("kinds = {'adam': tf.train.AdamOptimizer}\nopt = kinds[name](0.1)", config=_TF, level="manual"),
        Example.same("class Mine(tf.train.Optimizer):\n    pass", config=_TF, level="manual"),
        Example.same("class Mine(tf.train.Optimizer):\n    pass", note="one device"),
        Example.same("ok = isinstance(o, tf.train.Optimizer)", note="only asked for", config=_TF),
    ),
)
def optimizer_class(site: Site) -> None:
    """Reports an optimizer class that is not called but passed on, chosen or extended."""
    if is_on(site) and passed_on(site) is not None:
        site.manual(
            "The optimizer class is passed on, chosen or extended here: where an optimizer is made of it, wrap that with "
            "npu_distributed_optimizer_wrapper(...), unless its gradients come from tf.gradients, which averages them."
        )


@rule(
    id="NPU418",
    title="Optimizer given by its name",
    matches=tuple(CANNED_OPTIMIZERS),
    why="The optimizer is made inside the Estimator, where its gradients cannot be averaged over the ranks.",
    done_when=RANKS_AGREE,
    source="tf.estimator.DNNClassifier and its kin of TensorFlow 1.15",
    examples=(
        Example.same(
            "e = tf.estimator.DNNClassifier([10], c, optimizer='Adam', config=npu_run_config_init())",
            config=_TF,
            level="manual",
            write="e = tf.estimator.DNNClassifier([10], c, optimizer=npu_distributed_optimizer_wrapper(opt), "
            "config=npu_run_config_init())",
        ),
        Example.same("e = tf.estimator.LinearRegressor(c, config=npu_run_config_init())", config=_TF, level="manual"),
        Example.same("e = tf.estimator.LinearRegressor(c, config=npu_run_config_init())", note="one device"),
    ),
)
def canned_optimizer(call: Call) -> None:
    """Reports canned Estimators that make their optimizer themselves."""
    if not is_on(call) or call.has_unknown_args:
        return
    made_inside = [name for name, position in CANNED_OPTIMIZERS[call.name].items() if _is_made_inside(call, name, position)]
    if made_inside:
        call.manual(
            f"Pass {' and '.join(f'{name}=npu_distributed_optimizer_wrapper(...)' for name in made_inside)} with an optimizer of "
            "tf.train: one that is given by its name, or not at all, is made inside, and its gradients are not averaged."
        )


def _is_made_inside(call: Call, name: str, position: int) -> bool:
    """Whether an argument is left out, None, or the name of an optimizer."""
    arg = call.arg(name, position) or call.spread_arg(name)
    value: Any = arg.value if arg is not None else None
    return value is None or isinstance(value, cst.SimpleString) or call.resolve(value) == "None"


@part_of(
    canned_optimizer,
    matches=("tensorflow.contrib.layers.optimize_loss",),
    why="The optimizer is made inside the function, where its gradients cannot be averaged over the ranks.",
    source="tf.contrib.layers.optimize_loss of TensorFlow 1.15",
    examples=(
        Example.same(
            "o = tf.contrib.layers.optimize_loss(l, g, 0.1, optimizer='Adam')",
            config=_TF,
            level="manual",
            write="o = tf.contrib.layers.optimize_loss(l, g, 0.1, optimizer=make_distributed_optimizer)",
        ),
        Example.same("o = tf.contrib.layers.optimize_loss(l, g, 0.1, optimizer='Adam')", note="one device"),
    ),
)
def named_optimizer(call: Call) -> None:
    """Reports optimize_loss with the name of an optimizer."""
    if is_on(call) and isinstance(call.value("optimizer", 3), cst.SimpleString):
        call.manual("Pass a function that makes npu_distributed_optimizer_wrapper(optimizer) in the place of the name.")
