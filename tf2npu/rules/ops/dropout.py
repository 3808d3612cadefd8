"""Dropout: `npu_ops.dropout` in the place of `tf.nn.dropout`, and the patched layers."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.parentheses import is_atom
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.sites import Call, Site

_WHY_LAYERS = "Importing npu_convert_dropout makes the dropout layers of tf.layers and tf.keras use the NPU's dropout."
_SOURCE_LAYERS = "npu_bridge.estimator.npu.npu_convert_dropout"
_KEPT = (
    "Dropout now calls npu_ops.dropout, which is faster on an NPU; keep_prob means what it meant before. Nothing is left to do."
)
_V2 = "tensorflow.compat.v2.nn.dropout"
_BACKEND = "tensorflow.keras.backend.dropout"


@rule(
    id="NPU501",
    title="Dropout",
    matches=("tensorflow.nn.dropout", _V2, _BACKEND),
    why="The NPU's dropout makes its mask on the device; it takes the probability to KEEP a unit, not the rate.",
    done_when="The number given here is the probability to keep a unit: with 1 in its place the output equals the input.",
    source="npu_bridge.estimator.npu_ops.dropout(x, keep_prob, noise_shape, seed, name); tf.nn.dropout of TensorFlow 1.15",
    examples=(
        Example("y = tf.nn.dropout(x, 0.5)", "y = npu_ops.dropout(x, 0.5)"),
        Example("y = tf.nn.dropout(x, rate=1 - keep)", "y = npu_ops.dropout(x, keep_prob=1 - (1 - keep))"),
        Example(
            "import tensorflow.compat.v2 as tf\ny = tf.nn.dropout(x, 0.3)",
            "from npu_bridge.npu_init import npu_ops\nimport tensorflow.compat.v2 as tf\n"
            "y = npu_ops.dropout(x, keep_prob=1 - 0.3)",
        ),
        Example("y = tf.nn.dropout(x, 0.5, None, 7)", "y = npu_ops.dropout(x, 0.5, None, 7)"),
        Example(
            "import tensorflow.compat.v2 as tf\ny = tf.nn.dropout(x, 0.3, None, 7)",
            "from npu_bridge.npu_init import npu_ops\nimport tensorflow.compat.v2 as tf\n"
            "y = npu_ops.dropout(x, 1 - 0.3, None, 7)",
        ),
        Example("y = tf.keras.backend.dropout(x, level=0.3)", "y = npu_ops.dropout(x, keep_prob=1 - 0.3)"),
        Example.same("y = tf.nn.dropout(x, keep_prob=.5, noise_shape=[1])", note="noise_shape", level="info"),
        Example.same("y = tf.nn.dropout(x, **kw)", note="rate or keep_prob may be in kw", level="info"),
        Example.same("y = tf.nn.dropout(x, dropout_rate)", note="keep_prob or rate?", level="manual"),
        Example.same("y = my.nn.dropout(x, 0.5)", note="not TensorFlow's"),
    ),
)
def dropout(call: Call) -> None:
    """Calls `npu_ops.dropout` with the probability to keep."""
    if call.has_star_args:
        return call.info(
            "The arguments come out of *args or **kwargs, so it stays as it is; npu_ops.dropout(x, keep_prob) is faster on an "
            "NPU."
        )
    noise_shape = call.value("noise_shape", 2)
    if noise_shape is not None and call.resolve(noise_shape) != "None":
        return call.info("Left as it is: noise_shape is not part of the NPU's fast dropout.")
    rate, keep = _probability(call)
    if (rate is None) == (keep is None):
        return call.manual("Neither or both of rate and keep_prob are given; write npu_ops.dropout(x, keep_prob) by hand.")
    if keep is not None and _is_called_rate(keep):
        return call.manual(
            f"In TensorFlow 1 the second argument is the probability to keep, but this one is called {call.source(keep.value)}. "
            "Write npu_ops.dropout(x, keep_prob) if it is the probability to keep, else keep_prob=1 - it."
        )
    call.replace_callee(f"{call.need('npu_ops')}.dropout")
    if rate is None:
        return call.fixed(_KEPT)
    _to_keep_prob(call, rate)
    return call.fixed(
        "Dropout now calls npu_ops.dropout, which is faster on an NPU and takes the probability to keep a unit: "
        "1 - rate was written. Nothing is left to do."
    )


def _probability(call: Call) -> tuple[cst.Arg | None, cst.Arg | None]:
    """The arguments that give rate and keep_prob."""
    if call.name in (_V2, _BACKEND):
        return call.arg("level" if call.name == _BACKEND else "rate", 1), None
    return call.arg("rate", 5), call.arg("keep_prob", 1)


def _is_called_rate(arg: cst.Arg) -> bool:
    if arg.keyword is not None:
        return False
    node = arg.value
    name = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    return bool(re.search(r"rate", name, re.IGNORECASE)) and "keep" not in name.lower()


def _to_keep_prob(call: Call, rate: cst.Arg) -> None:
    if rate.keyword is not None or rate is call.args[-1] or call.args[call.args.index(rate) + 1].keyword is not None:
        call.rename_keyword(rate, "keep_prob")  # else what follows it without a name needs it so as well
    if is_atom(rate.value):
        call.insert(call.script.tree.span(rate.value)[0], "1 - ")
    else:
        call.wrap(rate.value, "1 - (", ")")


@part_of(
    dropout,
    on="reference",
    matches=("tensorflow.nn.dropout", _V2),
    why="A function kept in a variable or passed on is called somewhere else, with arguments that cannot be checked here.",
    examples=(
        Example(
            "import functools\nimport tensorflow as tf\nf = functools.partial(tf.nn.dropout, keep_prob=k)",
            "import functools\nfrom npu_bridge.npu_init import npu_ops\nimport tensorflow as tf\n"
            "f = functools.partial(npu_ops.dropout, keep_prob=k)",
        ),
        Example.same("layer = tf.keras.layers.Lambda(tf.nn.dropout)", note="called elsewhere", level="info"),
    ),
)
def dropout_reference(site: Site) -> None:
    """Converts `tf.nn.dropout` that is bound to a probability to keep; reports it where it is passed on otherwise."""
    if passed_on(site) is None:
        return
    if _is_bound_to_keep(site):
        site.replace(site.node, f"{site.need('npu_ops')}.dropout")
        site.fixed(_KEPT)
    else:
        site.info(
            "tf.nn.dropout is passed on here and stays as it is; where it is called, npu_ops.dropout(x, keep_prob) is faster on "
            "an NPU."
        )


def _is_bound_to_keep(site: Site) -> bool:
    """Whether functools.partial gives it keep_prob, so that who calls it can give no rate.

    Source: tf.nn.dropout of TensorFlow 1.15 refuses both.
    """
    argument = site.script.walked.parents.get(id(site.node))
    outer: Any = site.script.walked.parents.get(id(argument)) if isinstance(argument, cst.Arg) else None
    if not isinstance(outer, cst.Call) or site.resolve(outer.func) != "functools.partial" or outer.args[0] is not argument:
        return False
    names = {arg.keyword.value for arg in outer.args[1:] if arg.keyword is not None}
    is_plain = len(names) == len(outer.args) - 1 and names <= {"keep_prob", "seed", "name"}
    return site.name != _V2 and is_plain and "keep_prob" in names


@rule(
    id="NPU502",
    title="Dropout layers",
    matches=(
        "tensorflow.layers.dropout",
        "tensorflow.layers.Dropout",
        "tensorflow.keras.layers.Dropout",
        "tensorflow.contrib.layers.dropout",
    ),
    why=_WHY_LAYERS,
    source=_SOURCE_LAYERS,
    examples=(
        Example(
            "net = tf.layers.dropout(net, rate=0.4, training=True)",
            "from npu_bridge.estimator.npu import npu_convert_dropout"
            "  # noqa: F401  dropout layers use the dropout of the NPU\n"
            "import tensorflow as tf\nnet = tf.layers.dropout(net, rate=0.4, training=True)\n",
        ),
        Example.same("net = tf.keras.layers.SpatialDropout2D(0.4)(net)", note="its mask has a shape of its own"),
        Example.same("net = my.layers.dropout(net, rate=0.4)", note="not TensorFlow's"),
    ),
)
def dropout_layer(call: Call) -> None:
    """Imports the module that patches dropout layers; the calls stay as they are."""
    _patch_layers(call)


@part_of(
    dropout_layer,
    on="reference",
    matches=("tensorflow.layers.dropout", "tensorflow.layers.Dropout", "tensorflow.keras.layers.Dropout"),
    examples=(
        Example(
            "import tensorflow as tf\nclass Noise(tf.keras.layers.Dropout):\n    pass",
            "from npu_bridge.estimator.npu import npu_convert_dropout"
            "  # noqa: F401  dropout layers use the dropout of the NPU\n"
            "import tensorflow as tf\nclass Noise(tf.keras.layers.Dropout):\n    pass\n",
        ),
        Example.same("is_dropout = isinstance(layer, tf.keras.layers.Dropout)", note="only asked for"),
        Example.same("Layer = my.layers.Dropout", note="not TensorFlow's"),
    ),
)
def dropout_layer_reference(site: Site) -> None:
    """Imports it as well where a layer is passed on, chosen or extended, as it is called somewhere else then."""
    if passed_on(site) is not None:
        _patch_layers(site)


def _patch_layers(site: Site) -> None:
    site.need_module("npu_bridge.estimator.npu", "npu_convert_dropout")
    site.info(
        "The layer stays as it is: the added import, npu_convert_dropout, gives it the NPU's faster dropout. Nothing is left "
        "to do."
    )
