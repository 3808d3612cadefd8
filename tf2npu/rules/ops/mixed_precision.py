"""Mixed precision that is made for GPUs."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.environment_writes import SETTERS, set_by_call, set_by_item
from tf2npu.rules.facts.written_code import FIXED_LOSS_SCALE, LOSS_SCALE, given
from tf2npu.scanner.sites import Call, Site

_SOURCE = "TensorFlow adapter porting guide: mixed precision, precision_mode"
_VARIABLE = "TF_ENABLE_AUTO_MIXED_PRECISION"
_OFF = ("", "0", "false", "False")
_OPTION = "tensorflow.ConfigProto().graph_options.rewrite_options.auto_mixed_precision"
_OFF_OPTION = ("OFF", "2", "0", "DEFAULT", "False")  # Toggle of RewriterConfig: DEFAULT is off


@rule(
    id="NPU507",
    title="Automatic mixed precision",
    matches=(
        "tensorflow.train.experimental.enable_mixed_precision_graph_rewrite",
        "tensorflow.keras.mixed_precision.experimental.LossScaleOptimizer",
        "tensorflow.keras.mixed_precision.LossScaleOptimizer",
        "tensorflow.keras.mixed_precision.experimental.Policy",
        "tensorflow.keras.mixed_precision.experimental.set_policy",
    ),
    why="The rewrite is for GPUs; on the NPU the graph engine chooses the precision.",
    done_when="The summary of `tf2npu run` names the precision mode, and the loss falls as it did on the GPU.",
    source=_SOURCE,
    examples=(
        Example.same(
            "o = tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)",
            note="left",
            level="unsupported",
            write="o = NPULossScaleOptimizer(opt, FixedLossScaleManager(loss_scale=1024))",
        ),
        Example.same("tf.keras.mixed_precision.experimental.set_policy('mixed_float16')", level="unsupported"),
        Example.same("tf.keras.mixed_precision.experimental.set_policy('float32')", note="one type"),
        Example.same("o = tf.train.AdamOptimizer(1e-3)", note="no mixed precision"),
    ),
)
def mixed_precision(call: Call) -> None:
    """Reports mixed precision that is made for GPUs."""
    if call.name.endswith("olicy") and call.args and not (text_of(call.args[0].value, call.scope) or "mixed").startswith("mixed"):
        return
    call.unsupported(
        "Not supported on the NPU: take it out, set precision_mode='allow_mix_precision' in the session's options, "
        "and wrap the optimizer with NPULossScaleOptimizer.",
        _loss_scaled(call),
    )


def _loss_scaled(call: Call) -> str:
    """The optimizer with a loss scale of the NPU: the one that is given as a number, or one that follows overflows."""
    optimizer = given(call, "opt", 0)
    if not call.name.endswith("graph_rewrite") or not optimizer:
        return ""
    scale = call.value("loss_scale", 1)
    if isinstance(scale, (cst.Integer, cst.Float)):
        return FIXED_LOSS_SCALE.format(optimizer, call.source(scale))
    return LOSS_SCALE.format(optimizer)


@part_of(
    mixed_precision,
    matches=SETTERS,
    examples=(
        Example.same("import os\nimport tensorflow as tf\nos.putenv('TF_ENABLE_AUTO_MIXED_PRECISION', '1')", level="info"),
        Example.same(
            "import os\nimport tensorflow as tf\nos.environ.update({'TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE': '1'})",
            level="info",
        ),
        Example.same(
            "import os\nimport tensorflow as tf\nos.environ.setdefault('TF_ENABLE_AUTO_MIXED_PRECISION', '0')", note="off"
        ),
        Example.same("import os\nimport tensorflow as tf\nos.environ.update({'TF_CPP_MIN_LOG_LEVEL': '3'})", note="another one"),
    ),
)
def mixed_precision_by_call(call: Call) -> None:
    """Reports environment variables that switch on the mixed precision of GPUs."""
    for name, value in set_by_call(call):
        _report(call, name, value)


@part_of(
    mixed_precision,
    on="reference",
    matches=("os.environ",),
    examples=(
        Example.same(
            "import os\nimport tensorflow as tf\nos.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'",
            level="info",
            write="import tensorflow as tf\nconfig = tf.ConfigProto()\n"
            "npu_optimizer = config.graph_options.rewrite_options.custom_optimizers.add()\n"
            "npu_optimizer.name = 'NpuOptimizer'\n"
            "npu_optimizer.parameter_map['precision_mode'].s = tf.compat.as_bytes('allow_mix_precision')",
        ),
        Example.same("import os\nimport tensorflow as tf\nos.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '0'", note="off"),
        Example.same("import os\nimport tensorflow as tf\nx = os.environ['TF_ENABLE_AUTO_MIXED_PRECISION']", note="read"),
    ),
)
def mixed_precision_by_item(site: Site) -> None:
    """Reports environment variables that switch on the mixed precision of GPUs, set as items of os.environ."""
    for name, value in set_by_item(site):
        _report(site, name, value)


@part_of(
    mixed_precision,
    on="assign",
    source="auto_mixed_precision of tensorflow/core/protobuf/rewriter_config.proto, TensorFlow 1.15; " + _SOURCE,
    examples=(
        Example.same("c = tf.ConfigProto()\nc.graph_options.rewrite_options.auto_mixed_precision = 1", level="info"),
        Example.same(
            "c = tf.ConfigProto()\nc.graph_options.rewrite_options.auto_mixed_precision = 1 if amp else 2", level="info"
        ),
        Example.same("c = tf.ConfigProto()\nc.graph_options.rewrite_options.auto_mixed_precision = 2", note="off"),
    ),
)
def mixed_precision_option(site: Site) -> None:
    """Reports the session option that switches on the mixed precision of GPUs."""
    if site.resolve(site.node) != _OPTION:
        return
    value = next(v for t, v, _ in site.script.walked.attribute_assigns if t is site.node)
    _report_option(site, value)


@part_of(
    mixed_precision,
    matches=("tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig",),
    source="auto_mixed_precision of tensorflow/core/protobuf/rewriter_config.proto, TensorFlow 1.15; " + _SOURCE,
    examples=(
        Example.same(
            "from tensorflow.core.protobuf import rewriter_config_pb2\n"
            "o = rewriter_config_pb2.RewriterConfig(auto_mixed_precision=rewriter_config_pb2.RewriterConfig.ON)",
            level="info",
        ),
        Example.same(
            "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig\no = RewriterConfig(min_graph_nodes=-1)",
            note="no mixed precision",
        ),
    ),
)
def mixed_precision_argument(call: Call) -> None:
    """Reports rewrite options that are made with the mixed precision of GPUs."""
    value = call.value("auto_mixed_precision")
    if value is not None:
        _report_option(call, value)


def _report_option(site: Site, value: Any) -> None:
    if isinstance(value, (cst.Attribute, cst.Name, cst.Integer)) and site.source(value).rpartition(".")[2] in _OFF_OPTION:
        return
    _say(site, "auto_mixed_precision")


def _report(site: Site, name: str, value: Any) -> None:
    if not name.startswith(_VARIABLE) or text_of(value, site.scope) in _OFF:
        return
    _say(site, name)


def _say(site: Site, name: str) -> None:
    site.info(
        f"{name} switches on the mixed precision of GPUs and does nothing on the NPU, where the graph runs in its own types. For "
        "mixed precision set precision_mode='allow_mix_precision' in the session's options, and wrap the optimizer with "
        "NPULossScaleOptimizer."
    )
