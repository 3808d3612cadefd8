"""Argument positions that rules rely on, and names they match, held against TensorFlow itself."""

from __future__ import annotations

import importlib
import inspect
import math
from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from tf2npu.api_support.table import signatures
from tf2npu.frameworks.tensorflow1.estimator_names import CANNED
from tf2npu.frameworks.tensorflow1.framework import FRAMEWORK
from tf2npu.frameworks.tensorflow1.tensorflow2_names import TENSORFLOW_2_NAMES
from tf2npu.rules import rule_parts
from tf2npu.rules.distributed.horovod import _POSITIONS as HOROVOD
from tf2npu.rules.distributed.tf_distribute import _HOOKS
from tf2npu.rules.distributed.unwrapped_optimizers import CANNED_OPTIMIZERS
from tf2npu.rules.estimator.estimator import _ESTIMATOR_PARAMETERS
from tf2npu.rules.facts.gelu_formula import gelu_erf, gelu_tanh
from tf2npu.rules.facts.pipelines.batch_sizes import POSITION as DATASET
from tf2npu.rules.facts.sessions.estimator_plan import RUN_CONFIG_PARAMETERS
from tf2npu.rules.session.session_config import _KEYWORD, _POSITION

# In 1.15, gone from the API of later versions; their signatures were read in the 1.15 sources.
GONE = (
    "tensorflow.contrib.",
    "tensorflow.estimator.tpu.",
    "npu_bridge.",
    "tensorflow.flags.FLAGS.",
    "tensorflow.app.flags.FLAGS.",
)


def find(name: str) -> Any:
    """The API of a qualified name; a method of an instance is found on its class, a private module is imported."""
    parts = name.replace("()", "").split(".")
    found: Any = tf
    if parts[0] == "tensorflow" and parts[1] in ("core", "python"):
        return getattr(importlib.import_module(".".join(parts[:-1])), parts[-1])
    for part in parts[1:]:
        found = getattr(found, part)
    return found


def parameters(name: str) -> list[str]:
    """Parameters as a caller counts them: without self."""
    function = find(name)
    if inspect.isclass(function):
        function = function.__new__ if issubclass(function, tuple) else function.__init__
    return [n for n in inspect.signature(function).parameters if n not in ("self", "cls", "_cls")]


@pytest.mark.parametrize("name", [n for n in _POSITION if not n.startswith(GONE)])
def test_position_of_a_session_config(name: str) -> None:
    assert parameters(name)[_POSITION[name]] == _KEYWORD.get(name, "config")


@pytest.mark.parametrize("name", sorted(n for n in CANNED_OPTIMIZERS if ".contrib." not in n))
def test_optimizers_of_canned_estimators(name: str) -> None:
    given = parameters(name)
    assert {given[position]: position for position in CANNED_OPTIMIZERS[name].values()} == CANNED_OPTIMIZERS[name]


@pytest.mark.parametrize("name", sorted(n for n in CANNED if ".contrib." not in n and "BoostedTrees" not in n))
def test_position_of_a_canned_estimators_config(name: str) -> None:
    assert parameters(name)[CANNED[name]] == "config"


@pytest.mark.parametrize("name", [n for n in DATASET if n.startswith("tensorflow.data.")])
def test_position_of_drop_remainder(name: str) -> None:
    assert parameters(name)[DATASET[name]] == "drop_remainder"


@pytest.mark.parametrize("name", [n for n in _HOOKS if not n.startswith(GONE)])
def test_position_of_hooks(name: str) -> None:
    assert parameters(name)[_HOOKS[name]] == "hooks"


def test_parameters_of_estimator_and_run_config() -> None:
    assert tuple(parameters("tensorflow.estimator.Estimator")) == _ESTIMATOR_PARAMETERS
    own = parameters("tensorflow.estimator.RunConfig")
    assert tuple(own[: len(RUN_CONFIG_PARAMETERS)]) == RUN_CONFIG_PARAMETERS


@pytest.mark.parametrize("name", HOROVOD)
def test_parameters_of_horovods_optimizer(name: str) -> None:
    recorded = [part.partition("=")[0] for part in signatures()[name].strip("()").split(", ")]
    assert tuple(recorded) == HOROVOD[name]


def test_dropout_keeps_by_its_second_argument_in_the_first_version_only() -> None:
    assert parameters("tensorflow.nn.dropout")[:2] == ["x", "keep_prob"]
    assert list(inspect.signature(tf.compat.v2.nn.dropout).parameters)[:2] == ["x", "rate"]


def test_a_device_setter_without_tasks_and_cluster_places_nothing() -> None:
    assert tf.train.replica_device_setter(ps_tasks=0, worker_device="/job:worker") is None
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(1) is not None
    assert tf.train.replica_device_setter(0, cluster=tf.train.ClusterSpec({"ps": ["a:1"]})) is not None


@pytest.mark.parametrize("x", [-4.4, -1.7, -0.3, 0.0, 0.2, 1.1, 3.9])
def test_gelu_forms_are_tensorflows(x: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tanh, erf = (tf.compat.v2.nn.gelu(tf.constant(x, tf.float64), approximate=a) for a in (True, False))
        values = session.run([tanh, erf])
    assert math.isclose(gelu_tanh(x), values[0], rel_tol=1e-6, abs_tol=1e-9)
    assert math.isclose(gelu_erf(x), values[1], rel_tol=1e-6, abs_tol=1e-9)


def test_every_name_that_a_rule_matches_exists() -> None:
    """A misspelt name would never match; names that later versions dropped are listed. Those of TensorFlow 2 have a test."""
    parts = [part for part in rule_parts() if part.on in ("call", "reference") and FRAMEWORK.owns(part.id)]
    names = {n for part in parts for n in part.matches}
    missing = []
    for name in sorted(names - set(TENSORFLOW_2_NAMES)):
        if not name.startswith("tensorflow.") or name.startswith(GONE) or ".__init__" in name:
            continue
        try:
            find(name)
        except (AttributeError, ModuleNotFoundError):
            missing.append(name)
    assert missing == KNOWN_MISSING


KNOWN_MISSING = [
    "tensorflow.ConfigProto().graph_options.rewrite_options.custom_optimizers.add",  # a field of a message, not of its class
    "tensorflow.TensorArray().pack",  # gone since 1.0, which the rule mends
    "tensorflow.TensorArray().unpack",
    "tensorflow.estimator.BoostedTreesClassifier",  # dropped after 1.15, where their positions were read
    "tensorflow.estimator.BoostedTreesEstimator",
    "tensorflow.estimator.BoostedTreesRegressor",
    "tensorflow.keras.mixed_precision.experimental.LossScaleOptimizer",
    "tensorflow.keras.mixed_precision.experimental.Policy",  # in 1.15, as are the next two
    "tensorflow.keras.mixed_precision.experimental.set_policy",
    "tensorflow.keras.utils.multi_gpu_model",
    "tensorflow.tpu.InfeedQueue",  # tf.contrib.tpu in 1.15
    "tensorflow.tpu.TPUDistributionStrategy",
    "tensorflow.tpu.infeed_enqueue",
    "tensorflow.tpu.keras_to_tpu_model",
    "tensorflow.tpu.outfeed_enqueue_tuple",
]
