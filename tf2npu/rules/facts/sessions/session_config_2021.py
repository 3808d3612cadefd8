"""Session configs written out in full, as the adapter of 2021 needs them.

That release has no helper function that makes a config; the lines before a session make it.
"""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call
from tf2npu.scanner.tree_walk import dotted_name

_RELEASES = re.compile(r"\bnpu_(?:keras_)?sess\.")
CONFIG_ENTRY = (
    "config.graph_options.rewrite_options.custom_optimizers.add().name = 'NpuOptimizer', with remapping and memory_optimization "
    "of the rewrite options RewriterConfig.OFF"
)


def guide_session(call: Call, keyword: str, position: int | None, sessions: tuple[str, ...]) -> None:
    """Write the config of a session out, in the lines before its statement, and give it to the session.

    keyword, position: of the config.  sessions: names of all calls that take one.
    """
    if written_out(call, keyword, position, sessions, ()):
        call.fixed("The session gets a config with the NpuOptimizer entry, as the adapter of 2021 needs it.")
    elif not has_entry(call, keyword, position):
        call.manual(f"Make the config in a line before, with {CONFIG_ENTRY}, and give it as {keyword}=.")


def has_entry(call: Call, keyword: str, position: int | None) -> bool:
    """Whether the config that a session is given has a custom optimizer already."""
    config = call.arg(keyword, position)
    return config is not None and _has_entry(call, config.value)


def written_out(call: Call, keyword: str, position: int | None, sessions: tuple[str, ...], settings: tuple[str, ...]) -> bool:
    """Write the lines before the statement of a session, and whether that can be done.

    settings: names in the parameter map of the NpuOptimizer entry that are switched on.
    """
    config = call.arg(keyword, position)
    value: Any = config.value if config is not None and call.resolve(config.value) != "None" else None
    if value is not None and _has_entry(call, value):
        return False
    statement, tensorflow = _place(call, sessions), _tensorflow(call)
    if call.has_star_args or statement is None or tensorflow is None or not _can_move(call, statement, value):
        return False
    name, optimizer = _free_name(call.script, "npu_config"), _free_name(call.script, "npu_optimizer")
    off = f"{call.need('RewriterConfig')}.OFF"
    rewrite = f"{name}.graph_options.rewrite_options"
    lines = [f"{name} = {tensorflow}.ConfigProto()", *_copied(call, name, value)]
    lines += [f"{optimizer} = {rewrite}.custom_optimizers.add()", f'{optimizer}.name = "NpuOptimizer"']
    lines += [f'{optimizer}.parameter_map["{setting}"].b = True' for setting in settings]
    lines += [f"{rewrite}.remapping = {off}", f"{rewrite}.memory_optimization = {off}"]
    _insert_before(call, statement, lines)
    if config is None:
        call.add_keyword(f"{keyword}={name}")
    elif value is None:
        call.replace(config.value, name)
    else:
        call.replace_range(*call.script.tree.span(config.value), name)  # comments in it went to the line before
    return True


def _copied(call: Call, name: str, value: Any) -> list[str]:
    """Lines that take over what the user's own config says; it may be None where its kind is not known."""
    if value is None:
        return []
    source = call.source(value)
    if call.resolve(value) == "tensorflow.ConfigProto()":
        return [f"{name}.CopyFrom({source})"]
    if isinstance(value, cst.Call):
        return [f"{name}.CopyFrom({source} or {_tensorflow(call)}.ConfigProto())"]  # called once, as before
    return [f"if {source} is not None:", f"{call.script.tree.module.default_indent}{name}.CopyFrom({source})"]


def _has_entry(call: Call, value: Any) -> bool:
    """Whether the file adds a custom optimizer to this config already."""
    target = f"{call.source(value)}.graph_options.rewrite_options.custom_optimizers.add"
    owner = _owner(value, call.scope)
    return any(
        isinstance(node.func, cst.Attribute) and dotted_name(node.func) == target and _owner(node.func, scope) is owner
        for node, scope in call.script.walked.calls
    )


def _owner(node: Any, scope: Scope) -> Scope | None:
    while isinstance(node, cst.Attribute):
        node = node.value
    return scope.lookup_scope(node.value) if isinstance(node, cst.Name) else None


def _place(call: Call, sessions: tuple[str, ...]) -> Any:
    """The statement of the session, where lines can be put before it and it makes no other session; else None."""
    walked = call.script.walked
    statement: Any = None
    for ancestor in walked.ancestors(call.node):
        if isinstance(ancestor, (cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)):
            return None
        if isinstance(ancestor, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            statement = ancestor
            break
    block = walked.parents.get(id(statement))
    ends = [a.finalbody for a in walked.ancestors(call.node) if isinstance(a, cst.Try) and a.finalbody is not None]
    if any(_RELEASES.search(call.source(end)) for end in ends):
        return None  # added by a conversion, which would have put the lines there if it could
    is_simple = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
    if (
        not isinstance(block, (cst.IndentedBlock, cst.Module))
        or call.scope.kind == "class"
        or not (is_simple or isinstance(statement, cst.With))
    ):
        return None
    parts = [statement] if is_simple else [item.item for item in statement.items]
    inside = [n for part in parts for n, _ in call.script.calls_in(*call.script.tree.span(part))]
    made = [n for n in inside if call.resolve(n.func) in sessions]
    return statement if len(made) == 1 else None


def _can_move(call: Call, statement: Any, value: Any) -> bool:
    """Whether the config's expression means the same before the statement, and may be written twice where that is needed."""
    if value is None:
        return True
    is_made = call.resolve(value) == "tensorflow.ConfigProto()" or _is_made_here(call, statement, value)
    if not isinstance(value, (cst.Name, cst.Attribute)) and not is_made:
        return False
    if _names_horovod(call, value):  # in a copy it would be neither converted nor seen as a use of the import
        return False
    bound = []
    if isinstance(statement, cst.With):
        bound = [call.source(item.asname.name) for item in statement.items if item.asname is not None]
    text = call.source(value)
    return ("\n" not in text or isinstance(value, cst.Call)) and not any(
        re.search(rf"\b{re.escape(name)}\b", text) for name in bound
    )


def _is_made_here(call: Call, statement: Any, value: Any) -> bool:
    """Whether a function of this file, which has nothing of an NPU, makes the config, and nothing is called before it is."""
    if not isinstance(value, cst.Call) or re.search(r"npu", call.script.text, re.IGNORECASE):
        return False
    is_defined = re.search(rf"\bdef {re.escape(dotted_name(value.func).rpartition('.')[2])}\(", call.script.text)
    is_alone = not isinstance(statement, cst.With) or len(statement.items) == 1
    others = [arg.value for arg in (*call.args, *value.args) if arg.value is not value]
    return bool(is_defined and is_alone) and all(not _calls(other) for other in others)


def _calls(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) or any(_calls(child) for child in node.children)


def _names_horovod(call: Call, node: cst.CSTNode) -> bool:
    is_name = isinstance(node, (cst.Name, cst.Attribute)) and (call.resolve(node) or "").startswith("horovod.")
    return is_name or any(_names_horovod(call, child) for child in node.children)


def _tensorflow(call: Call) -> str | None:
    """The name of TensorFlow where the session is made; None where it has none."""
    node: Any = call.node.func
    while isinstance(node, cst.Attribute):
        node = node.value
        if call.resolve(node) == "tensorflow":
            return call.source(node)
    names = {n: b for n, b in call.script.module_scope.names.items() if any(x.kind == "import" for x in b)}
    return next((n for n in sorted(names) if call.script.resolver.qualify_name(n, call.scope) == "tensorflow"), None)


def _free_name(script: Script, name: str) -> str:
    while name in script.text and re.search(rf"\b{name}\b", script.text):
        name += "_"
    return name


def _insert_before(call: Call, statement: Any, lines: list[str]) -> None:
    script = call.script
    start = script.tree.span(statement)[0]
    offset = script.lines.line_start(start)
    indent, newline = script.text[offset:start], script.newline_at(start)
    call.insert(offset, "".join(f"{indent}{line}{newline}" for line in lines))
