"""`tf.device` blocks on an accelerator."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.asked_distribution import to_convert
from tf2npu.rules.facts.untaken_branches import value_of
from tf2npu.scanner.names import is_framework
from tf2npu.scanner.scopes import Binding, Scope
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.tree_walk import dotted_name

_ACCELERATOR = re.compile(r"gpu|tpu", re.IGNORECASE)
_SERVER = re.compile(r"job:|task:|replica:", re.IGNORECASE)
_UNKNOWN = (
    "The converter cannot tell which device is named here. The graph runs on the NPU either way. Where the name can be a GPU, "
    "write '/cpu:0' (or convert with --unsafe-fixes)."
)
_BESIDE = (
    "Where {} is a tensor or a variable, this may stay: it lies where the blocks around it say, and those are converted. Where "
    "{} is a text that can name a GPU, '/cpu:0' is clearer; soft placement lets the graph run either way."
)
_SETTER = "tensorflow.train.replica_device_setter"


_DONE_WHEN = "No line places ops on a GPU, and the summary of `tf2npu run` counts the model's operations on the device."


@rule(
    id="NPU701",
    title="tf.device",
    once=True,
    matches=("tensorflow.device",),
    why="There is no GPU beside an NPU: a block placed on one has to become neutral before the graph goes to the device.",
    done_when=_DONE_WHEN,
    source="TensorFlow adapter porting guide: device code is removed; tf.device of TensorFlow 1.15",
    examples=(
        Example("with tf.device('/gpu:0'):\n    pass", "with tf.device('/cpu:0'):\n    pass"),
        Example(
            "with tf.device(device_name_or_function='/gpu:1'):\n    pass",
            "with tf.device(device_name_or_function='/cpu:0'):\n    pass",
        ),
        Example(
            "def f(place):\n    with tf.device(device_name_or_function=place):\n        pass",
            "def f(place):\n    with tf.device(device_name_or_function='/cpu:0'):\n        pass",
            config=Config(unsafe_fixes=True),
        ),
        Example(
            "with tf.device('/gpu:' + str(GPU_INDEX)):\n    pass",
            "with tf.device('/cpu:0'):\n    pass",
            note="one, told elsewhere",
        ),
        Example(
            "for i in range(4):\n    with tf.device('/gpu:%d' % i):\n        pass",
            "for i in range(4):\n    with tf.device('/cpu:0'):\n        pass",
            level="info",
        ),
        Example.same("def f(place):\n    with tf.device(place):\n        pass", note="which device?", level="info"),
        Example.same("def f(g):\n    with tf.device(g.device):\n        pass", note="beside what?", level="info"),
        Example.same(
            "class Net:\n    def build(self):\n        with tf.device(self.device):\n            pass",
            note="its own",
            level="info",
        ),
        Example.same("with tf.device(tf.app.flags.FLAGS.device):\n    pass", note="told on the command line", level="info"),
        Example.same("v = tf.Variable(1.0)\nwith tf.device(v.device):\n    pass", note="beside a variable"),
        Example.same("with tf.device('/cpu:0'):\n    pass", note="already on the host"),
        Example.same("with tf.device(None):\n    pass", note="no placement"),
        Example.same("with tf.device(tf.train.replica_device_setter(cluster=c)):\n    pass", note="NPU956 tells about it"),
    ),
)
def device(call: Call) -> None:
    """Turns a block on an accelerator into a neutral one."""
    value = call.value("device_name_or_function", 0)
    if value is None or call.has_star_args:
        return call.manual(
            "The device comes out of *args or **kwargs: write it out, and name no GPU, which an NPU host does not have."
        )
    if call.resolve(value) == "None":
        return None
    if isinstance(value, cst.Call) and call.resolve(value.func) == _SETTER:
        return None  # NPU956 tells about it
    text, is_computed = device_text(call, value, call.scope)
    if text is None:
        return _device_of_something(call, value)
    if _SERVER.search(text):
        return call.unsupported(
            f"Placement on the servers of a cluster ({text}) is not supported: take it out"
            f"{to_convert(call, ', and convert with --distributed tf')}."
        )
    if not _ACCELERATOR.search(text):
        return None
    quote = '"' if call.source(value).endswith('"') else "'"
    call.replace(value, f"{quote}/cpu:0{quote}")
    call.fixed(
        "The device is now '/cpu:0', as an NPU host has no GPU or TPU. The graph runs on the NPU all the same. Nothing is left "
        "to do."
    )
    if is_computed and (number := _number_by_default(call, value)):
        call.info(
            f"There is one tower, as {number} is 1 by default. More are not for one NPU, which one process drives: convert for "
            "several devices instead."
        )
    elif is_computed and _may_be_several(call, value):
        # The same sums, one tower after another: public scripts with towers train so, with the numbers of TensorFlow 1.15.
        call.info(
            "The towers of one model share the NPU, which one process drives: the numbers stay, but nothing gets faster. For "
            f"several NPUs build the model once{to_convert(call, ' and use --distributed tf or horovod')}."
        )
    return None


def _number_by_default(call: Call, value: cst.BaseExpression) -> str:
    """The option that a loop around the block turns by, where it is at most 1 by default; "" for another loop."""
    named = {node.value for node, _ in call.script.walked.references if isinstance(node, cst.Name) and _holds(call, value, node)}
    for loop in call.script.walked.ancestors(call.node):
        if isinstance(loop, cst.For) and isinstance(loop.target, cst.Name) and loop.target.value in named:
            count: Any = loop.iter.args[0].value if isinstance(loop.iter, cst.Call) and len(loop.iter.args) == 1 else None
            is_range = isinstance(loop.iter, cst.Call) and call.source(loop.iter.func) in ("range", "xrange")
            number = value_of(call.script, count, call.scope) if is_range and count is not None else None
            return call.source(count) if isinstance(number, int) and number <= 1 and not isinstance(count, cst.Integer) else ""
    return ""


def _holds(call: Call, outer: cst.CSTNode, inner: cst.CSTNode) -> bool:
    start, end = call.script.tree.span(outer)
    return start <= call.script.tree.span(inner)[0] < end


def _may_be_several(call: Call, value: cst.BaseExpression) -> bool:
    """Whether a device is computed from what changes: the variable of a loop, or what a function is given."""
    start, end = call.script.tree.span(value)
    for node, scope in call.script.walked.references:
        name = dotted_name(node).partition(".")[0]
        if start <= call.script.tree.span(node)[0] < end and name not in ("self", "cls"):
            bindings = scope.lookup(name)
            if any(b.kind not in ("value", "import") or _is_in_loop(call, b) for b in bindings):
                return True
    return False


def _is_in_loop(call: Call, binding: Binding) -> bool:
    node = binding.node
    ancestors = call.script.walked.ancestors(node) if binding.kind == "value" and node is not None else ()
    return any(isinstance(ancestor, (cst.For, cst.While)) for ancestor in ancestors)


def _device_of_something(call: Call, value: cst.BaseExpression) -> None:
    """A block whose device no text tells."""
    beside = value.value if isinstance(value, cst.Attribute) and value.attr.value == "device" else None
    kind = (call.resolve(beside) or "") if beside is not None else ""
    if (
        kind.endswith("flags.FLAGS")
        or kind.startswith("user:")
        or (isinstance(beside, cst.Name) and beside.value in ("self", "cls"))
    ):
        beside = None  # a text of the command line, or one that an object of the project keeps
    elif kind.startswith("tensorflow."):
        return None  # a tensor or variable lies where the blocks say that it was built in
    if call.allows_unsafe():
        call.replace(value, "'/cpu:0'")
        return call.fixed(f"The block no longer asks for a device; what {call.source(value)} gave is not known here.")
    return call.info(_BESIDE.format(call.source(beside), call.source(value)) if beside is not None else _UNKNOWN)


def device_text(site: Site, node: Any, scope: Scope, depth: int = 0) -> tuple[str | None, bool]:
    """The literal text in a device expression, and whether parts of it are computed."""
    if isinstance(node, cst.SimpleString):
        return str(node.evaluated_value), False
    if isinstance(node, cst.FormattedString):
        text = "".join(p.value for p in node.parts if isinstance(p, cst.FormattedStringText))
        return text or None, True
    if isinstance(node, cst.BinaryOperation):
        return device_text(site, node.left, scope, depth + 1)[0], True
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "format":
        return device_text(site, node.func.value, scope, depth + 1)[0], True
    if isinstance(node, cst.Lambda):
        return device_text(site, node.body, scope, depth + 1)
    if isinstance(node, cst.Name) and depth < 5:
        bindings = scope.lookup(node.value)
        if len(bindings) == 1 and bindings[0].kind == "value" and bindings[0].scope is not None:
            return device_text(site, bindings[0].node, bindings[0].scope, depth + 1)
    return None, True


@rule(
    id="NPU702",
    title="Graph.device",
    matches=("tensorflow.Graph().device",),
    why="It places ops like tf.device does, but through a graph object.",
    done_when=_DONE_WHEN,
    source="tf.Graph.device of TensorFlow 1.15",
    examples=(
        Example("with tf.Graph().device('/gpu:0'):\n    pass", "with tf.Graph().device('/cpu:0'):\n    pass"),
        Example.same(
            "def f(place):\n    with tf.Graph().device(place):\n        pass",
            level="info",
            write="def f(place):\n    with tf.Graph().device('/cpu:0'):\n        pass",
        ),
        Example.same("with tf.Graph().device('/cpu:0'):\n    pass", note="already on the host"),
    ),
)
def graph_device(call: Call) -> None:
    """Turns a block of a graph on an accelerator into a neutral one."""
    device(call)


@rule(
    id="NPU703",
    title="GPU settings of tf.config",
    matches=(
        "tensorflow.config.experimental.set_memory_growth",
        "tensorflow.config.experimental.set_virtual_device_configuration",
        "tensorflow.config.set_logical_device_configuration",
        "tensorflow.config.set_soft_device_placement",
    ),
    why="They configure GPUs; without one TensorFlow raises or does nothing, while soft placement must stay on.",
    done_when="The script starts where there is no GPU: `tf2npu run` passes this line.",
    source="tf.config of TensorFlow 1.15",
    examples=(
        Example(
            "for g in gpus:\n    tf.config.experimental.set_memory_growth(g, True)",
            "for g in gpus:\n    pass",
        ),
        Example(
            "ok = tf.config.experimental.set_memory_growth(g, True)",
            "ok = None",
        ),
        Example.same(
            "tf.config.experimental.set_memory_growth(find(tf.Session(config=npu_config_proto())), True)",
            note="opens a session",
            level="manual",
            write="find(tf.Session(config=npu_config_proto()))",
        ),
        Example.same("ctx.gpu.set_memory_growth(True)", note="another object's method"),
        Example.same("tf.config.set_soft_device_placement(True)", note="what the NPU wants"),
    ),
)
def gpu_settings(call: Call) -> None:
    """Takes out settings that only mean something on a GPU."""
    if call.name.endswith("set_soft_device_placement"):
        value = call.value("enabled", 0)
        if value is not None and call.resolve(value) != "True":
            call.replace(value, "True")
            call.fixed("Soft placement stays on: what the NPU cannot run goes to the host.")
        return None
    if _does_more(call):
        return call.manual("It configures a GPU: take it out, and keep what its arguments do besides.")
    call.take_out()
    return call.fixed("Taken out: it configures a GPU.")


def _does_more(call: Call) -> bool:
    """Whether there is TensorFlow in the arguments that does not merely name devices, or None, which other fixes leave behind."""
    script = call.script
    start, end = script.tree.span(call.node)
    inside = [(node, scope) for node, scope in script.calls_in(start, end) if node is not call.node]
    called = [script.name_of(node.func, scope) or "" for node, scope in inside]
    if any(is_framework(name) and not name.startswith("tensorflow.config.") for name in called):
        return True
    nones = (node for node, _ in script.walked.references if isinstance(node, cst.Name) and node.value == "None")
    return any(start <= script.tree.span(none)[0] < end for none in nones)
