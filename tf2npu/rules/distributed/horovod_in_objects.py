"""Horovod that objects keep: what is called of it by way of them is not followed, and told where it stands."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.horovod.project import horovod_in
from tf2npu.rules.base import Example, rule
from tf2npu.rules.distributed.horovod import HVD, SOURCE, WHY, is_on
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Site

# Names that nothing but Horovod has, and what to write for them.
_SURE = {
    "DistributedOptimizer": "npu_distributed_optimizer_wrapper(optimizer)",
    "BroadcastGlobalVariablesHook": "NPUBroadcastGlobalVariablesHook(root_rank, index=get_npu_rank_id())",
    "BroadcastGlobalVariablesCallback": "NPUBroadcastGlobalVariablesCallback(root_rank)",
    "broadcast_global_variables": "npu_hook.broadcast_global_variables(root_rank)",
}
# Names that other objects may have, too: told where the object is called by Horovod's name.
_NAMED = {
    "rank": "get_npu_rank_id()",
    "size": "get_npu_rank_size()",
    "local_rank": "get_npu_local_rank_id()",
    "local_size": "get_npu_local_rank_size()",
    "allreduce": "npu_allreduce(tensor, reduction='mean')",
    "allgather": "hccl_ops.allgather(tensor, get_npu_rank_size())",
    "broadcast": "hccl_ops.broadcast([tensor], root_rank)[0]",
}
_BY_NAME = re.compile(r"hvd|horovod", re.IGNORECASE)
_IMPORT = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"


@rule(
    id="NPU424",
    title="Horovod kept in an object",
    on="module",
    why=WHY,
    done_when="Where Horovod is not installed, `tf2npu run --devices 2` passes this line on both ranks.",
    source=SOURCE,
    examples=(
        Example.same(
            f"{_IMPORT}state = {{'hvd': hvd}}\nopt = state['hvd'].DistributedOptimizer(opt)",
            note="by way of a dict",
            level="manual",
            write="from npu_bridge.npu_init import npu_distributed_optimizer_wrapper\nimport tensorflow as tf\n"
            "opt = npu_distributed_optimizer_wrapper(opt)",
            config=HVD,
        ),
        Example.same(f"{_IMPORT}state = {{'hvd': hvd}}\nn = state['hvd'].size()", level="manual", config=HVD),
        Example.same(f"{_IMPORT}state = {{'hvd': hvd}}\nn = state['hvd'].size()", note="without --distributed horovod"),
        Example.same("import tensorflow as tf\nopt = state['hvd'].DistributedOptimizer(opt)", note="no Horovod", config=HVD),
    ),
)
def kept_in_an_object(site: Site) -> None:
    """Reports what may be called of Horovod by way of an object that keeps it."""
    script = site.script
    if not is_on(site) or script.path not in horovod_in(script.project).with_horovod:
        return
    for call, scope in script.walked.calls:
        if isinstance(call.func, cst.Attribute) and _may_be_horovod(site, call.func, scope):
            site.fix.site = script.tree.span(call)
            site.manual(_advice(call.func.attr.value))


def _advice(method: str) -> str:
    if method == "init":
        return "If this is Horovod, take it out: the entry script starts the NPU's resources."
    return f"If this is Horovod, write {_SURE.get(method) or _NAMED[method]}: what an object keeps is not followed."


def _may_be_horovod(site: Site, func: cst.Attribute, scope: Scope) -> bool:
    method, script = func.attr.value, site.script
    if method not in _SURE and not (method in (*_NAMED, "init") and _BY_NAME.search(site.source(func.value))):
        return False
    name = script.name_of(func, scope)
    if name is not None and not name.startswith("project:"):
        return False
    return not _is_named_at_import(site, func, scope) and not _is_of_project(site, name)


def _is_named_at_import(site: Site, func: cst.Attribute, scope: Scope) -> bool:
    """Whether the object is a name that an import of Horovod gives, among others: told there."""
    bindings = scope.lookup(func.value.value) if isinstance(func.value, cst.Name) else []
    return any(binding.kind == "import" and binding.target.startswith("horovod") for binding in bindings)


def _is_of_project(site: Site, name: str | None) -> bool:
    """Whether a name is that of a module or a class of the project and something of its own, which is converted there."""
    if name is None:
        return False
    level, dotted = name.split(":")[1:]
    owner, project, path = dotted.rpartition(".")[0], site.script.project, site.script.path
    return project.find_module(path, int(level), owner) is not None or _is_class(project, path, int(level), owner)


def _is_class(project: ProjectFacts, path: str, level: int, dotted: str, depth: int = 0) -> bool:
    """Whether a dotted import refers to a class of the project, through re-exports."""
    module, _, name = dotted.rpartition(".")
    found = project.find_module(path, level, module) if (module or level) and depth <= 10 else None
    if found is None:
        return False
    facts = project.files[found]
    if name in facts.classes or name not in facts.exports:
        return name in facts.classes
    return _is_class(project, found, *facts.exports[name], depth + 1)
