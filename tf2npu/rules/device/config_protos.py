"""ConfigProto, GraphOptions and XLA settings that the NPU's graph engine does not go with."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.sites import Call, Site, written_out

_PROTO = "tensorflow.ConfigProto()"
_JIT = f"{_PROTO}.graph_options.optimizer_options.global_jit_level"
_REWRITE = f"{_PROTO}.graph_options.rewrite_options"


@rule(
    id="NPU711",
    title="GraphOptions and OptimizerOptions",
    matches=("tensorflow.GraphOptions", "tensorflow.OptimizerOptions"),
    why="XLA's just-in-time compilation must be off: the NPU compiles the graph itself.",
    source="npu_bridge.npu_init.npu_graph_options, npu_optimizer_options",
    examples=(
        Example("o = tf.GraphOptions()", "o = npu_graph_options(graph_options=tf.GraphOptions())"),
        Example.same("class GraphOptions(object):\n    pass\no = GraphOptions()", note="the user's own class"),
        Example.same("o = my.GraphOptions()", note="not TensorFlow's"),
    ),
)
def graph_options(call: Call) -> None:
    """Wraps graph or optimizer options so that XLA stays off."""
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.Call) and ancestor is not call.node:
            name = call.resolve(ancestor.func) or ""
            if name == "tensorflow.GraphOptions" or name.startswith("npu_bridge.npu_init.npu_"):
                return  # the outer wrapper switches XLA off
    what = "graph" if call.name.endswith("GraphOptions") else "optimizer"
    call.wrap(call.node, f"{call.need(f'npu_{what}_options')}({what}_options=", ")")
    call.fixed("XLA's just-in-time compilation stays off.")


_DONE_WHEN = "`tf2npu run --strict` passes the first run of the session that gets this config."


@rule(
    id="NPU712",
    title="Session options that the NPU overrides",
    on="assign",
    why="XLA must be off and graph pruning on; GPU options have no effect.",
    done_when=_DONE_WHEN,
    source="npu_bridge.npu_init.npu_config_proto; TensorFlow adapter porting guide on rewrite options",
    examples=(
        Example(
            "c = tf.ConfigProto()\nc.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1",
            "c = tf.ConfigProto()\nc.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF",
        ),
        Example.same("c = tf.ConfigProto()\nc.gpu_options.allow_growth = True", note="harmless, there is no GPU", level="info"),
        Example.same(
            "c = tf.ConfigProto()\nc.graph_options.rewrite_options.disable_model_pruning = True",
            note="has to be undone by hand",
            level="unsupported",
        ),
        Example.same("c = tf.ConfigProto()\nc.allow_soft_placement = True", note="what the NPU needs anyway"),
    ),
)
def session_options(site: Site) -> None:
    """Switches XLA off and reports session options that do not go with the NPU."""
    name = site.resolve(site.node)
    if name is None or not name.startswith(_PROTO):
        return
    site.name = name
    value = _assigned(site)
    if name == _JIT:
        _jit_level(site, value)
    elif name.startswith(f"{_PROTO}.gpu_options"):
        site.info("GPU options have no effect on an NPU host, which has no GPU. Leave the line as it is, or delete it.")
    elif name == f"{_REWRITE}.disable_model_pruning" and site.resolve(value) != "False":
        site.unsupported("Model pruning must stay on for the NPU: remove this line.")
    elif name in (f"{_REWRITE}.remapping", f"{_REWRITE}.memory_optimization") and not site.source(value).endswith("OFF"):
        message = "npu_config_proto switches this optimization off, as the NPU needs it: set it to RewriterConfig.OFF."
        config = site.source(value.value) if isinstance(value, cst.Attribute) else ""
        site.unsupported(message, f"{site.source(site.node)} = {config}.OFF" if config.endswith("RewriterConfig") else "")


@part_of(
    session_options,
    matches=("tensorflow.ConfigProto",),
    why="There is no GPU to hide: what keeps a session off the GPU does not keep it off the NPU.",
    source="device_count of tf.ConfigProto, TensorFlow 1.15; use_off_line of the NPU's session options",
    examples=(
        Example.same("c = tf.ConfigProto(device_count={'GPU': 0})", level="info"),
        Example.same("c = tf.ConfigProto(device_count={'GPU': 0 if on_cpu else 1})", note="or perhaps", level="info"),
        Example.same("c = tf.ConfigProto(device_count={'CPU': 4})", note="of the host"),
        Example.same("c = tf.ConfigProto(device_count={'GPU': 1})", note="hides nothing"),
    ),
)
def hidden_gpus(call: Call) -> None:
    """Reports session options by which a session stayed on the CPU."""
    counts = written_out(call.value("device_count")) or {}
    count = counts.get("GPU")
    counted = [count.body, count.orelse] if isinstance(count, cst.IfExp) else [count]
    if any(isinstance(n, cst.Integer) and n.evaluated_value == 0 for n in counted):
        call.info(
            "device_count hides GPUs, and no NPU: with the NPU's config the session runs on the NPU all the same. To keep the "
            "session on the CPU, set its option use_off_line=False."
        )


def _assigned(site: Site) -> Any:
    return next(v for t, v, _ in site.script.walked.attribute_assigns if t is site.node)


def _jit_level(site: Site, value: Any) -> None:
    site.fix.site = (site.fix.site[0], site.script.tree.span(value)[1])
    if isinstance(value, cst.Attribute) and value.attr.value in ("ON_1", "ON_2"):
        site.replace(value.attr, "OFF")
        site.fixed("XLA's just-in-time compilation is switched off.")
    elif isinstance(value, cst.Integer) and value.value in ("1", "2"):
        site.replace(value, "-1")
        site.fixed("XLA's just-in-time compilation is switched off (-1 is OFF).")
    elif not site.source(value).endswith(("OFF", "-1")):
        site.manual("XLA's just-in-time compilation must be off on the NPU: set tf.OptimizerOptions.OFF.")


@rule(
    id="NPU713",
    title="XLA scopes",
    matches=("tensorflow.xla.experimental.jit_scope", "tensorflow.contrib.compiler.jit.experimental_jit_scope"),
    why="Ops inside an XLA scope would be taken away from the NPU's graph.",
    done_when="No op that is made here has _XlaCompile=true among its attributes.",
    source="tf.xla.experimental.jit_scope(compile_ops=True, separate_compiled_gradients=False) of TensorFlow 1.15",
    examples=(
        Example(
            "with tf.xla.experimental.jit_scope():\n    pass",
            "with tf.xla.experimental.jit_scope(compile_ops=False):\n    pass",
        ),
        Example.same("with tf.xla.experimental.jit_scope(compile_ops=False):\n    pass", note="already off"),
        Example.same("with my.xla.experimental.jit_scope():\n    pass", note="not TensorFlow's"),
    ),
)
def jit_scope(call: Call) -> None:
    """Switches an XLA scope off."""
    if call.has_star_args:
        return call.manual("Pass compile_ops=False: XLA must not compile what goes to the NPU.")
    value = call.value("compile_ops", 0)
    if value is None:
        call.add_keyword("compile_ops=False")
    elif call.resolve(value) == "False":
        return None
    else:
        call.replace(value, "False")
    return call.fixed("The scope no longer hands its ops to XLA: compile_ops=False.")


@rule(
    id="NPU714",
    title="Grappler options",
    matches=("tensorflow.config.optimizer.set_experimental_options",),
    why="The NPU needs graph pruning and a certain set of graph optimizations, which npu_init holds as experimental_options.",
    done_when=_DONE_WHEN,
    source="npu_bridge.npu_init.experimental_options",
    examples=(
        Example(
            "tf.config.optimizer.set_experimental_options({'remapping': True})",
            "tf.config.optimizer.set_experimental_options(experimental_options)",
        ),
        Example.same("app.set_experimental_options({'dark': True})", note="another object's method"),
        Example.same("tf.config.optimizer.get_experimental_options()", note="only looks"),
    ),
)
def experimental_options(call: Call) -> None:
    """Passes the options that the NPU needs to Grappler."""
    value = call.value("options", 0)
    if value is None or call.has_star_args:
        return call.manual("Pass npu_bridge.npu_init.experimental_options here.")
    if call.resolve(value) == "npu_bridge.npu_init.experimental_options":
        return None
    call.replace(value, call.need("experimental_options"))
    return call.fixed("Grappler gets the options that the NPU needs; the former ones are gone.")
