"""Settings of GPUs in scripts for TensorFlow 2: taken out, with the loops, tests and try blocks that hold nothing else."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.start.entry_block import is_guard
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call, Site

_TF2 = Config(dialect="tf2")
_SETTINGS = (
    "tensorflow.config.experimental.set_memory_growth", "tensorflow.config.set_visible_devices",
    "tensorflow.config.experimental.set_visible_devices", "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.experimental.set_virtual_device_configuration",
)  # fmt: skip
_PURE = ("tensorflow.config.", "builtins.", "horovod.tensorflow.local_rank", "horovod.tensorflow.keras.local_rank")
"""Beginnings of the names of functions that may be called in what goes: they only ask."""


@rule(
    id="NPU802",
    title="GPU settings of TensorFlow 2",
    matches=_SETTINGS,
    why="They configure GPUs, which an NPU host does not have; some raise an error once the NPU has been opened.",
    done_when="No line configures a GPU, and the script starts on a host without one.",
    source="tf.config of TensorFlow 2.15; TensorFlow 2 adapter porting guide: GPU settings are removed",
    examples=(
        Example(
            "gpus = tf.config.list_physical_devices('GPU')\nif gpus:\n    for gpu in gpus:\n"
            "        tf.config.experimental.set_memory_growth(gpu, True)\nx = 1",
            "gpus = tf.config.list_physical_devices('GPU')\nx = 1",
            config=_TF2,
        ),
        Example(
            "try:\n    tf.config.set_visible_devices(gpus[0], 'GPU')\nexcept RuntimeError as e:\n    print(e)\nx = 1",
            "x = 1",
            config=_TF2,
        ),
        Example(
            "def setup(gpus):\n    tf.config.experimental.set_memory_growth(gpus[0], True)",
            "def setup(gpus):\n    pass",
            config=_TF2,
        ),
        Example.same(
            "tf.config.experimental.set_memory_growth(pick(), True)",
            level="manual",
            note="pick may do more",
            config=_TF2,
            write="pick()",
        ),
        Example.same("tf.config.set_visible_devices(cpus, 'CPU')", note="of the host", config=_TF2),
        Example.same("ctx.gpu.set_memory_growth(True)", note="another object's method", config=_TF2),
    ),
)
def gpu_settings_of_2(call: Call) -> None:
    """Takes settings of GPUs out, with what stands around them for nothing else."""
    if is_of_host(call):
        return
    if _does_more(call.script, call.node, call.node):
        call.manual("It configures a GPU: take it out, and keep what its arguments do besides.")
        return
    expression = call.script.walked.parents.get(id(call.node))
    if isinstance(expression, cst.Expr):
        _take_out(call, expression)
    else:
        call.replace(call.node, "None")
    call.fixed("Taken out: it configures a GPU.")


@part_of(
    gpu_settings_of_2,
    on="reference",
    matches=_SETTINGS,
    examples=(
        Example.same(
            "set_up = {'gpu': tf.config.experimental.set_memory_growth}", note="called elsewhere", config=_TF2, level="manual"
        ),
        Example.same("ok = callable == tf.config.set_visible_devices", note="only compared", config=_TF2),
    ),
)
def gpu_setting_passed_on(site: Site) -> None:
    """Reports a setting of GPUs that is passed on, and so called somewhere else."""
    if passed_on(site) is not None:
        site.manual("It configures a GPU where it is called: take it out there, as an NPU host has none.")


def is_of_host(call: Call) -> bool:
    """Whether a setting is one of the CPU, told by the kind of device that it names or asks for."""
    kind = call.value("device_type", 1) if call.name.endswith("set_visible_devices") else None
    if kind is not None:
        return _names_cpu(call, kind)
    device: Any = call.args[0].value if call.args and not call.args[0].star else None
    while isinstance(device, cst.Subscript):
        device = device.value
    if isinstance(device, cst.Name):
        bindings = call.scope.lookup(device.value)
        device = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
    while isinstance(device, cst.Subscript):
        device = device.value
    return isinstance(device, cst.Call) and bool(device.args) and _names_cpu(call, device.args[0].value)


def _names_cpu(call: Call, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.SimpleString) and str(node.evaluated_value).upper() == "CPU"


def _does_more(script: Script, node: cst.CSTNode, besides: cst.Call | None = None) -> bool:
    """Whether an expression calls anything, besides one call, that may do more than ask for devices, or gives a name."""
    start, end = script.tree.span(node)
    if ":=" in script.text[start:end]:
        return True
    inside = [(one, where) for one, where in script.calls_in(start, end) if one is not besides]
    names = [script.name_of(one.func, where) or "" for one, where in inside]
    return not all(name.startswith(_PURE) or name in _METHODS for name in names)


_METHODS = frozenset(
    {"tensorflow.config.LogicalDeviceConfiguration", "tensorflow.config.experimental.VirtualDeviceConfiguration"}
)


def _take_out(call: Call, expression: cst.Expr) -> None:
    """Delete the widest statement that holds nothing but settings of GPUs; a block that would be empty gets a `pass`."""
    script = call.script
    goes = _statements_that_go(script)
    widest: Any = None
    for ancestor in script.walked.ancestors(expression):
        if isinstance(ancestor, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            if id(ancestor) not in goes:
                break
            widest = ancestor
    if widest is None:
        call.replace(call.node, "pass")  # it shares its line with something else
        return
    first, end = script.tree.span(widest)
    end = first + len(script.text[first:end].rstrip())  # a block in one line ends behind its line
    block: Any = script.walked.parents.get(id(widest))
    siblings = list(getattr(block, "body", ()))
    line_start, newline = script.lines.line_start(first), script.newline_at(first)
    indent = script.text[line_start:first]
    if widest is siblings[0] and not isinstance(block, cst.Module) and all(id(one) in goes for one in siblings):
        comments = "".join(f"{comment}{newline}{indent}" for comment in script.comments(first, end))
        call.replace_range(first, end, f"{comments}pass")
        return
    line_end = script.lines.line_end(end)
    comments = "".join(f"{indent}{comment}{newline}" for comment in script.comments(first, line_end))
    behind = len(script.newline_at(end)) if line_end < len(script.text) else 0
    call.replace_range(line_start, line_end + behind, comments)


@fact
def _statements_that_go(script: Script) -> set[int]:
    """Ids of the statements that hold nothing but settings of GPUs."""
    settings = {id(node) for node, scope in script.walked.calls if _is_plain_setting(script, node, scope)}
    found: set[int] = set()
    for node, _ in script.walked.calls:
        for ancestor in script.walked.ancestors(node) if id(node) in settings else ():
            if isinstance(ancestor, cst.IndentedBlock):
                continue
            if isinstance(ancestor, (cst.SimpleStatementLine, cst.BaseCompoundStatement)) and id(ancestor) not in found:
                if not _goes(script, ancestor, settings):
                    break
                found.add(id(ancestor))
    return found


def _is_plain_setting(script: Script, node: cst.Call, scope: Scope) -> bool:
    if script.name_of(node.func, scope) not in _SETTINGS or script.is_switched_off("NPU802", node):
        return False
    call = Call(script, "NPU802", node, scope, script.name_of(node.func, scope) or "")
    return not is_of_host(call) and not _does_more(script, node, node)


def _goes(script: Script, statement: cst.CSTNode, settings: set[int]) -> bool:
    if isinstance(statement, cst.SimpleStatementLine):
        return all(_is_setting(one, settings) or isinstance(one, cst.Pass) for one in statement.body)
    if isinstance(statement, cst.For):
        is_plain = not statement.orelse and _only_asks(script, statement.iter) and _is_own(script, statement)
        return is_plain and _all_go(script, statement.body, settings)
    if isinstance(statement, cst.If) and not is_guard(statement.test):
        return statement.orelse is None and _only_asks(script, statement.test) and _all_go(script, statement.body, settings)
    if isinstance(statement, cst.Try):
        return not (statement.orelse or statement.finalbody) and _all_go(script, statement.body, settings)
    return False


def _all_go(script: Script, body: Any, settings: set[int]) -> bool:
    if isinstance(body, cst.SimpleStatementSuite):
        return all(_is_setting(one, settings) or isinstance(one, cst.Pass) for one in body.body)
    return all(_goes(script, one, settings) for one in body.body)


def _is_setting(small: cst.CSTNode, settings: set[int]) -> bool:
    return isinstance(small, cst.Expr) and id(small.value) in settings


def _only_asks(script: Script, node: cst.BaseExpression) -> bool:
    return not _does_more(script, node)


def _is_own(script: Script, loop: cst.For) -> bool:
    """Whether nothing but loops like this one reads its variable."""
    if not isinstance(loop.target, cst.Name):
        return False
    name = loop.target.value
    uses = script.references_to(name)
    owners = {id(scope.lookup_scope(name)) for node, scope in uses if loop in script.walked.ancestors(node)}
    others = [node for node, scope in uses if id(scope.lookup_scope(name)) in owners]
    return all(_is_variable_of_a_loop(script, node, name) for node in others)


def _is_variable_of_a_loop(script: Script, node: cst.CSTNode, name: str) -> bool:
    loops = (one for one in script.walked.ancestors(node) if isinstance(one, cst.For))
    return any(isinstance(loop.target, cst.Name) and loop.target.value == name for loop in loops)
