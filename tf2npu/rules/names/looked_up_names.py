"""APIs that are converted, looked up by their names in a module of TensorFlow or in its dictionary."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.names.computed_names import say_chosen
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.tree_walk import first_key

_CONVERTED = frozenset(
    f"tensorflow.{name}"
    for name in (
        "Session", "InteractiveSession", "device", "nn.dropout", "layers.dropout", "estimator.Estimator", "estimator.RunConfig",
        "estimator.DNNClassifier", "train.MonitoredTrainingSession", "train.MonitoredSession", "train.Supervisor",
        "distribute.MirroredStrategy", "contrib.tpu.TPUEstimator", "contrib.tpu.RunConfig", "estimator.tpu.TPUEstimator",
        "estimator.tpu.RunConfig",
    )
)  # fmt: skip
"""APIs whose use is changed, and which programs look up by name."""
_MODULES = tuple(sorted({name.rpartition(".")[0] for name in _CONVERTED}))


@rule(
    id="NPU914",
    title="API looked up by its name",
    matches=("builtins.getattr",),
    why="What is looked up while the program runs is not seen when it is converted.",
    done_when="It is known which API is used with each setting, and `tf2npu api` says of it that it runs.",
    source="docs/adding_a_rule.md",
    examples=(
        Example.same("S = getattr(tf, 'Session')", level="manual", write="S = tf.Session"),
        Example.same("E = getattr(tf.estimator, 'Estimator')", level="manual", write="E = tf.estimator.Estimator"),
        Example.same("v = getattr(args, 'Session')", note="not TensorFlow"),
        Example.same("O = getattr(tf.train, 'AdamOptimizer')", note="nothing to change"),
    ),
)
def looked_up(call: Call) -> None:
    """Reports APIs that would be converted, where a program looks them up by their names."""
    if len(call.args) >= 2 and isinstance(call.args[1].value, cst.SimpleString):
        _told(call, call.resolve(call.args[0].value), call.args[1].value)


@part_of(
    looked_up,
    on="reference",
    matches=tuple(f"{module}.__dict__" for module in _MODULES),
    examples=(
        Example.same("sess = tf.__dict__['Session']()", level="manual"),
        Example.same("o = tf.train.__dict__[FLAGS.optimizer + 'Optimizer'](0.1)", level="manual"),
        Example.same("O = tf.train.__dict__['AdamOptimizer']", note="nothing to change"),
        Example.same("names = sorted(tf.__dict__)", note="nothing is looked up"),
        Example.same("E = mine.__dict__['Session']", note="not TensorFlow"),
    ),
)
def entry_of_dictionary(site: Site) -> None:
    """Reports entries of modules' dictionaries for APIs that would be converted."""
    _entry_told(site, site.name.removesuffix(".__dict__"))


@part_of(
    looked_up,
    matches=("builtins.vars", *(f"{module}.__dict__.get" for module in _MODULES)),
    examples=(
        Example.same("sess = vars(tf)['Session']()", level="manual"),
        Example.same("E = tf.estimator.__dict__.get('Estimator')", level="manual"),
        Example.same("settings = vars(args)['Session']", note="not TensorFlow"),
    ),
)
def entry_of_vars(call: Call) -> None:
    """Reports entries of `vars` and of `__dict__.get` for APIs that would be converted."""
    if not call.args:
        return
    if call.name == "builtins.vars":
        _entry_told(call, call.resolve(call.args[0].value))
    else:
        _told(call, call.name.removesuffix(".__dict__.get"), call.args[0].value)


def _entry_told(site: Site, base: str | None) -> None:
    """`dictionary['name']`, where the site is the dictionary."""
    entry: Any = site.script.walked.parents.get(id(site.node))
    if isinstance(entry, cst.Subscript) and entry.value is site.node and len(entry.slice) == 1:
        key = first_key(entry)
        if key is not None:
            _told(site, base, key)


def _told(site: Site, base: str | None, key: Any) -> None:
    name = text_of(key, site.scope)
    if base in _MODULES and name is None:
        say_chosen(site, base, key)
    elif base in _MODULES and f"{base}.{name}" in _CONVERTED:
        site.manual(f"{base}.{name} is looked up here: convert its use by hand.")
