"""Target adapter "2021": the Apache-licensed release of the adapter, with no helper functions and no patched Session.

Sessions get the entry in their config written out; a fix that needs a name which that release does not have becomes a
remark with the code to write.  Source of the names: `tf_adapter/python/npu_bridge` of that release.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import libcst as cst

from tf2npu.findings import Finding, Level
from tf2npu.scanner.edits import Fix
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.walk import dotted_name

EXPORTS = frozenset({
    "NPURunConfig", "ProfilingConfig", "DumpConfig", "DynamicInputConfig", "NPUEstimator", "NPUEstimatorSpec",
    "NPUDistributedOptimizer", "NPUCheckpointSaverHook", "NPUOutputTensorHook", "NPUOptimizer", "NPULossScaleOptimizer",
    "FixedLossScaleManager", "ExponentialUpdateLossScaleManager", "npu_ops", "npu_rnn", "npu_scope", "util", "keras_to_npu",
    "npu_strategy", "npu_unary_ops", "hccl_ops", "rewriter_config_pb2", "RewriterConfig", "create_group", "destroy_group",
    "get_rank_size", "get_local_rank_size", "get_rank_id", "get_local_rank_id", "get_world_rank_from_group_rank",
    "get_group_rank_from_world_rank", "set_split_strategy_by_idx", "set_split_strategy_by_size",
})  # fmt: skip
_HOOKS, _OPTIMIZERS = "npu_bridge.estimator.npu.npu_hook", "npu_bridge.estimator.npu.npu_optimizer"
# Names that npu_init does not export there, and the modules that have them.
_ELSEWHERE = {"NPUBroadcastGlobalVariablesHook": _HOOKS, "KerasDistributeOptimizer": _OPTIMIZERS}
_MODULES = frozenset({"npu_bridge.estimator.npu:npu_hook", *(f"{module}:{name}" for name, module in _ELSEWHERE.items())})
# A config with the entry, written out.
ENTRY_LINES = (
    "npu_config = {tf}.ConfigProto()",
    'npu_config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"',
    "npu_config.graph_options.rewrite_options.remapping = {off}",
    "npu_config.graph_options.rewrite_options.memory_optimization = {off}",
)
# Names that do the same under another name there.
_SAME = {
    "get_npu_rank_id": "get_rank_id",
    "get_npu_local_rank_id": "get_local_rank_id",
    "get_npu_rank_size": "get_rank_size",
    "get_npu_local_rank_size": "get_local_rank_size",
}
_OPTIMIZER = "npu_distributed_optimizer_wrapper"
_RELEASES = re.compile(r"\bnpu_(?:keras_)?sess\.")
_ENTRY = (
    "config.graph_options.rewrite_options.custom_optimizers.add().name = 'NpuOptimizer', with remapping and memory_optimization "
    "of the rewrite options RewriterConfig.OFF"
)
_INSTEAD = {
    "npu_config_proto": f"give the session a tf.ConfigProto with {_ENTRY}",
    "npu_run_config_init": f"give the RunConfig a session_config with {_ENTRY}",
    "npu_graph_options": "set optimizer_options.global_jit_level to tf.OptimizerOptions.OFF",
    "npu_optimizer_options": "set global_jit_level to tf.OptimizerOptions.OFF",
    "experimental_options": "leave this call out",
    "set_keras_session_npu_config": f"call tf.keras.backend.set_session(tf.Session(config=config)) with {_ENTRY}",
    "close_session": "close the session yourself: tf.keras.backend.get_session().close()",
    "npu_clear_session": "close the session, call clear_session(), and set a new one with the NpuOptimizer entry",
    "shutdown_resource": "run npu_ops.shutdown_system() in the end",
    "init_resource": "run npu_ops.initialize_system() in a session first",
    "npu_hooks_append": "append NPUBroadcastGlobalVariablesHook of npu_bridge.estimator.npu.npu_hook",
    "npu_callbacks_append": "broadcast the variables with hccl_ops.broadcast before training",
    "npu_allreduce": "average each gradient: hccl_ops.allreduce(gradient, 'sum') / get_rank_size()",
    "all_to_all_v": "gather with hccl_ops.allgather and take the rank's part",
    "NPUBroadcastGlobalVariablesCallback": "broadcast the variables with hccl_ops.broadcast before training",
    _OPTIMIZER: "use NPUDistributedOptimizer, or KerasDistributeOptimizer of npu_bridge.estimator.npu.npu_optimizer for Keras",
    "npu_bridge.estimator.npu:npu_convert_dropout": "call npu_ops.dropout(x, keep_prob) in the place of the layer",
}


def within_adapter(site: Site) -> Fix:
    """The fix of a site as the target's adapter allows it."""
    fix = site.fix
    if site.script.config.target.adapter != "2021":
        return fix
    fix.findings = [_with_advice(finding) for finding in fix.findings]
    if not fix.symbols:
        return fix
    renames = {s: _SAME[s] for s, _ in fix.symbols if s in _SAME}
    if any(s == _OPTIMIZER for s, _ in fix.symbols) and site.name.startswith(
        ("tensorflow.train.", "tensorflow.contrib.opt.", "horovod.")
    ):
        renames[_OPTIMIZER] = "NPUDistributedOptimizer"
    elif any(s == _OPTIMIZER for s, _ in fix.symbols) and ".keras.optimizers." in site.name:
        renames[_OPTIMIZER] = "KerasDistributeOptimizer"
    fix = _from_elsewhere(site.script, _renamed(site.script, fix, renames))
    missing = sorted({s for s, _ in fix.symbols if s not in EXPORTS and s not in _MODULES})
    if not missing:
        return fix
    advice = "; ".join(dict.fromkeys(_INSTEAD.get(s, f"{s} has no counterpart there") for s in missing))
    message = f"The adapter of 2021 has no {', '.join(s.rpartition(':')[2] for s in missing)}: {advice}."
    findings = [_manual(f, message) for f in fix.findings]
    return Fix(fix.rule, findings=findings, site=fix.site)


def _with_advice(finding: Finding) -> Finding:
    """A remark that speaks of what the release does not have, with what to write there."""
    missing = [name for name in _INSTEAD if finding.level is not Level.FIXED and re.search(rf"\b{name}\b", finding.message)]
    if not missing:
        return finding
    advice = "; ".join(dict.fromkeys(_INSTEAD[name] for name in missing))
    return replace(finding, message=f"{finding.message} The adapter of 2021 has no {', '.join(missing)}: {advice}.")


def _from_elsewhere(script: Script, fix: Fix) -> Fix:
    """The fix with the modules of names that npu_init does not export."""
    symbols = [
        (f"{_ELSEWHERE[s]}:{s}" if s in _ELSEWHERE and script.local_name(s) == s else s, scope) for s, scope in fix.symbols
    ]
    return replace(fix, symbols=symbols)


def _manual(finding: Finding, message: str) -> Finding:
    return replace(finding, level=Level.MANUAL, message=message) if finding.level is Level.FIXED else finding


def _renamed(script: Script, fix: Fix, renames: dict[str, str]) -> Fix:
    """The same changes with other names of npu_bridge."""
    if not renames:
        return fix
    local = {script.local_name(old): script.local_name(new) for old, new in renames.items()}
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(local)))})\b")
    changes = [replace(c, new=pattern.sub(lambda m: local[m.group()], c.new)) for c in fix.changes]
    symbols = [(renames.get(s, s), scope) for s, scope in fix.symbols]
    return replace(fix, changes=changes, symbols=symbols)


def guide_session(call: Call, keyword: str, position: int | None, sessions: tuple[str, ...]) -> None:
    """Write the config of a session out, in the lines before its statement, and give it to the session.

    keyword, position: of the config.  sessions: names of all calls that take one.
    """
    config = call.arg(keyword, position)
    value: Any = config.value if config is not None and call.resolve(config.value) != "None" else None
    if value is not None and _has_entry(call, value):
        return None
    statement, tensorflow = _place(call, sessions), _tensorflow(call)
    if call.has_star_args or statement is None or tensorflow is None or not _can_move(call, statement, value):
        return call.manual(f"Make the config in a line before, with {_ENTRY}, and give it as {keyword}=.")
    name, optimizer = _free_name(call.script, "npu_config"), _free_name(call.script, "npu_optimizer")
    off = f"{call.need('RewriterConfig')}.OFF"
    rewrite = f"{name}.graph_options.rewrite_options"
    lines = [f"{name} = {tensorflow}.ConfigProto()", *_copied(call, name, value)]
    lines += [f"{optimizer} = {rewrite}.custom_optimizers.add()", f'{optimizer}.name = "NpuOptimizer"']
    lines += [f"{rewrite}.remapping = {off}", f"{rewrite}.memory_optimization = {off}"]
    _insert_before(call, statement, lines)
    if config is None:
        call.add_keyword(f"{keyword}={name}")
    elif value is None:
        call.replace(config.value, name)
    else:
        call.replace_range(*call.script.tree.span(config.value), name)  # comments in it went to the line before
    return call.fixed("The session gets a config with the NpuOptimizer entry, as the adapter of 2021 needs it.")


def _copied(call: Call, name: str, value: Any) -> list[str]:
    """Lines that take over what the user's own config says; it may be None where its kind is not known."""
    if value is None:
        return []
    source = call.source(value)
    if call.resolve(value) == "tensorflow.ConfigProto()":
        return [f"{name}.CopyFrom({source})"]
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
    if not isinstance(value, (cst.Name, cst.Attribute)) and call.resolve(value) != "tensorflow.ConfigProto()":
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


def _names_horovod(call: Call, node: cst.CSTNode) -> bool:
    is_name = isinstance(node, (cst.Name, cst.Attribute)) and (call.resolve(node) or "").startswith("horovod.")
    return is_name or any(_names_horovod(call, child) for child in node.children)


def _tensorflow(call: Call) -> str | None:
    """How TensorFlow is called where the session is made."""
    node: Any = call.node.func
    while isinstance(node, cst.Attribute):
        node = node.value
        if call.resolve(node) == "tensorflow":
            return call.source(node)
    names = {n: b for n, b in call.script.module_scope.names.items() if any(x.kind == "import" for x in b)}
    return next((n for n in sorted(names) if call.script.resolver.qualify_name(n, call.scope) == "tensorflow"), None)


def _free_name(script: Script, name: str) -> str:
    while re.search(rf"\b{name}\b", script.text):
        name += "_"
    return name


def _insert_before(call: Call, statement: Any, lines: list[str]) -> None:
    script = call.script
    start = script.tree.span(statement)[0]
    offset = script.lines.line_start(start)
    indent, newline = script.text[offset:start], script.newline_at(start)
    call.insert(offset, "".join(f"{indent}{line}{newline}" for line in lines))
