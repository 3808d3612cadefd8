"""Classes of Estimators that are passed on, chosen or extended: the config is given somewhere else."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.estimator.estimator import canned_estimator, estimator, tpu_estimator
from tf2npu.rules.facts.sessions.wrapped_run_config import number_of_self, wrap_run_config
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.estimator_names import CANNED, CONFIG_POSITION, ESTIMATOR, TPU_ESTIMATOR
from tf2npu.scanner.sites import Call, Site

_CONFIG_OF_BASE = {ESTIMATOR: CONFIG_POSITION, **CANNED}  # Estimators that a class may extend, and the position of `config`
_PASSED_ON = (
    "The Estimator class is passed on here. Where it is called, use NPUEstimator with an NPURunConfig, or give it "
    "config=npu_run_config_init(run_config=...)."
)
_CHOSEN = "The class is passed on or chosen here: where it is called, give it config=npu_run_config_init(run_config=...)."
_EXTENDED = (
    "The class is extended here, and the config it gets is not seen: where it is called, or its base's __init__, give that "
    "config=npu_run_config_init(run_config=...)."
)
_TPU = (
    "The class is passed on, chosen or extended here: where it is called, give it use_tpu=False, eval_on_tpu=False, "
    "export_to_tpu=False and config=npu_run_config_init(run_config=...)."
)


def _gives_config(site: Site, statement: cst.CSTNode) -> bool:
    """Whether a class calls `__init__` of the base that it extends, which is looked at by itself."""
    inside = site.script.calls_in(*site.script.tree.span(statement)) if isinstance(statement, cst.ClassDef) else ()
    return any(site.script.name_of(node.func, scope) == f"{site.name}.__init__" for node, scope in inside)


@part_of(
    estimator,
    on="reference",
    matches=(ESTIMATOR,),
    why="A class kept in a variable or passed on is called somewhere else, with a config that cannot be checked here.",
    source="npu_bridge.estimator.npu.npu_estimator.NPUEstimator",
    examples=(
        Example.same("make = tf.estimator.Estimator if plain else Mine", note="called elsewhere", level="manual"),
        Example.same("class My(tf.estimator.Estimator):\n    pass\ne = My(fn)", note="gets its config there", level="manual"),
        Example.same("ok = isinstance(e, tf.estimator.Estimator)", note="only asked for"),
        Example.same("def train(e: tf.estimator.Estimator):\n    e.train(fn)", note="an annotation"),
    ),
)
def estimator_reference(site: Site) -> None:
    """Reports an Estimator class that is not called but passed on, or extended without a config of its own."""
    statement = passed_on(site)
    if statement is not None and not _gives_config(site, statement):
        site.manual(_EXTENDED if isinstance(statement, cst.ClassDef) else _PASSED_ON)


@part_of(
    canned_estimator,
    on="reference",
    matches=tuple(CANNED),
    why="A class kept in a variable or passed on is called somewhere else, with a config that cannot be checked here.",
    examples=(
        Example.same("kinds = {'dnn': tf.estimator.DNNClassifier}\ne = kinds[k](config=c)", note="one is chosen", level="manual"),
        Example.same("ok = isinstance(e, tf.estimator.DNNClassifier)", note="only asked for"),
        Example.same("class My(tf.estimator.LinearRegressor):\n    pass", note="extended", level="manual"),
        Example.same("run = tf.estimator.LinearRegressor.train", note="one of its methods"),
    ),
)
def canned_reference(site: Site) -> None:
    """Reports the class of a canned Estimator that is not called but passed on, or extended without a config of its own."""
    statement = passed_on(site)
    if statement is not None and not _gives_config(site, statement):
        site.manual(_EXTENDED if isinstance(statement, cst.ClassDef) else _CHOSEN)


@part_of(
    tpu_estimator,
    on="reference",
    matches=(TPU_ESTIMATOR,),
    why="A class kept in a variable or passed on is called somewhere else, with a config that cannot be checked here.",
    examples=(
        Example.same("kinds = {'tpu': tf.contrib.tpu.TPUEstimator}\ne = kinds[k](fn)", note="one is chosen", level="manual"),
        Example.same("class My(tf.contrib.tpu.TPUEstimator):\n    pass", note="extended", level="manual"),
        Example.same("ok = isinstance(e, tf.contrib.tpu.TPUEstimator)", note="only asked for"),
    ),
)
def tpu_reference(site: Site) -> None:
    """Reports the class of a TPUEstimator that is not called but passed on, or extended without settings of its own."""
    statement = passed_on(site)
    if statement is not None and not _gives_config(site, statement):
        site.manual(_TPU)


@rule(
    id="NPU205",
    title="Subclass of Estimator",
    matches=tuple(f"{name}.__init__" for name in _CONFIG_OF_BASE),
    why="The base class makes the sessions; the config it gets must put them on the NPU.",
    done_when="The summary of `tf2npu run` counts the Estimator's runs on the device, and names no session on TensorFlow.",
    source="npu_bridge.npu_init.npu_run_config_init",
    examples=(
        Example(
            "class My(tf.estimator.Estimator):\n    def __init__(self, cfg):\n        super(My, self).__init__(fn, config=cfg)",
            "class My(tf.estimator.Estimator):\n    def __init__(self, cfg):\n"
            "        super(My, self).__init__(fn, config=npu_run_config_init(run_config=cfg))",
        ),
        Example(
            "class My(tf.estimator.LinearRegressor):\n    def __init__(self, cols):\n        super().__init__(cols)",
            "class My(tf.estimator.LinearRegressor):\n    def __init__(self, cols):\n"
            "        super().__init__(cols, config=npu_run_config_init())",
        ),
        Example.same("class My(Base):\n    def __init__(self, cfg):\n        super(My, self).__init__(config=cfg)"),
        Example.same("class My(tf.keras.Model):\n    def __init__(self):\n        super(My, self).__init__()", note="a model"),
    ),
)
def estimator_subclass(call: Call) -> None:
    """Wraps the config that a subclass of Estimator hands to its base."""
    wrap_run_config(call, _CONFIG_OF_BASE[call.name.removesuffix(".__init__")] + number_of_self(call))
