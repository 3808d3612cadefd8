"""Target adapter "2021": the Apache-licensed release of the adapter, with no helper functions and no patched Session.

Sessions get the entry in their config written out; a fix that needs a name which that release does not have becomes a
remark with the code to write.  Source of the names: `tf_adapter/python/npu_bridge` of that release.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tf2npu.findings import Finding, Level
from tf2npu.frameworks.tensorflow1.project import NAME
from tf2npu.rules import hooks
from tf2npu.rules.facts.sessions.session_config_2021 import CONFIG_ENTRY
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.text.edits import Fix

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
# Names that do the same under another name there.
_SAME = {
    "get_npu_rank_id": "get_rank_id",
    "get_npu_local_rank_id": "get_local_rank_id",
    "get_npu_rank_size": "get_rank_size",
    "get_npu_local_rank_size": "get_local_rank_size",
}
_OPTIMIZER = "npu_distributed_optimizer_wrapper"
_INSTEAD = {
    "npu_config_proto": f"give the session a tf.ConfigProto with {CONFIG_ENTRY}",
    "npu_run_config_init": f"give the RunConfig a session_config with {CONFIG_ENTRY}",
    "npu_graph_options": "set optimizer_options.global_jit_level to tf.OptimizerOptions.OFF",
    "npu_optimizer_options": "set global_jit_level to tf.OptimizerOptions.OFF",
    "experimental_options": "leave this call out",
    "set_keras_session_npu_config": f"call tf.keras.backend.set_session(tf.Session(config=config)) with {CONFIG_ENTRY}",
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


@hooks.after_rule
def within_adapter(site: Site) -> Fix:
    """The fix of a site as the target's adapter allows it."""
    fix = site.fix
    if site.script.config.target.adapter != "2021" or not site.script.is_looked_at_by(NAME):
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
