"""TensorFlow and Horovod reached through names that are made while the program runs."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.api_support.table import table
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.scanner.names import is_horovod, is_tensorflow
from tf2npu.scanner.sites import Call, Site

# Modules of which a program mostly chooses what rules convert: optimizers, Estimators, strategies.
_CONVERTED = (
    "tensorflow", "tensorflow.train", "tensorflow.nn", "tensorflow.estimator", "tensorflow.keras.optimizers",
    "tensorflow.distribute",
)  # fmt: skip


@rule(
    id="NPU934",
    title="API chosen while the program runs",
    matches=("builtins.getattr", "builtins.__import__", "importlib.import_module", "builtins.setattr"),
    why="What is chosen or replaced while the program runs is not seen when it is converted.",
    done_when="It is known which API is used with each setting, and `tf2npu api` says of it that it runs.",
    source="Python language reference: getattr, setattr, __import__, importlib.import_module",
    examples=(
        Example.same(
            "c = getattr(tf.nn.rnn_cell, name)(3)",
            level="info",
            write="c = {'lstm': tf.nn.rnn_cell.LSTMCell, 'gru': tf.nn.rnn_cell.GRUCell}[name](3)",
        ),
        Example.same("o = getattr(tf.train, FLAGS.optimizer + 'Optimizer')", level="manual"),
        Example.same("import importlib\nt = importlib.import_module('tensorflow')\ns = t.Session()", level="manual"),
        Example.same("import importlib\nhvd = importlib.import_module('horovod.tensorflow')\nhvd.init()", level="manual"),
        Example.same("import importlib\nhvd = importlib.import_module('horovod.torch')", note="of another framework"),
        Example.same("setattr(tf.nn, 'dropout', my_dropout)", level="manual"),
        Example.same("setattr(tf.summary, 'scalar', my_scalar)", note="no rule looks at calls of it"),
        Example.same("c = getattr(models, name)(3)", note="not TensorFlow"),
        Example.same("v = getattr(tf, '__version__')", note="nothing to convert"),
    ),
)
def computed_name(call: Call) -> None:
    """Reports getattr and setattr of TensorFlow, and imports of it and of Horovod by a name."""
    if call.name in ("builtins.__import__", "importlib.import_module"):
        module = text_of(call.args[0].value, call.scope) if call.args else None
        if module is not None and (is_tensorflow(module) or is_horovod(module)):
            message = f"Write `import {module}`: what is used of a module imported by its name is not converted."
            call.manual(message, f"import {module}")
        return
    base = call.resolve(call.args[0].value) if len(call.args) >= 2 else None
    if base is None or not is_tensorflow(base) or "()" in base or not _is_module(base):
        return
    if call.name == "builtins.setattr":
        _replaced(call, base, text_of(call.args[1].value, call.scope))
    elif not isinstance(call.args[1].value, cst.SimpleString):
        say_chosen(call, base, call.args[1].value)


@part_of(
    computed_name,
    on="assign",
    source="Python language reference: assignment to attributes of modules",
    examples=(
        Example.same("tf.nn.dropout = my_dropout", level="manual"),
        Example.same("tf.summary.scalar = my_scalar", note="no rule looks at calls of it"),
        Example.same("mine.nn.dropout = my_dropout", note="not TensorFlow"),
    ),
)
def replaced_name(site: Site) -> None:
    """Reports names of TensorFlow that are given another value."""
    target: Any = site.node
    base = site.resolve(target.value)
    if base is not None and is_tensorflow(base) and "()" not in base and _is_module(base):
        _replaced(site, base, target.attr.value)


def _replaced(site: Site, base: str, name: str | None) -> None:
    """A name that no rule looks at may be replaced: its calls stay as they are."""
    api = table().find(f"{base}.{name}") if name is not None else None
    if name is None or (api is not None and api.rule):
        site.manual(f"{base} is changed here: calls of the replaced name are still converted as TensorFlow's own. Check them.")


def say_chosen(site: Site, base: str, name: cst.BaseExpression) -> None:
    """Say that which API of a module is meant is known only when the program runs."""
    message = f"Which API of {base} is meant here is known only when the program runs: "
    if base in _CONVERTED:
        site.manual(message + f"print {site.source(name)} for your settings, and convert that API by hand (`tf2npu rules`).")
    else:
        site.info(message + "check it where it is one that a rule converts.")


def _is_module(name: str) -> bool:
    return name.rpartition(".")[2].islower()
