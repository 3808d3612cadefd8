"""The import of Horovod, which goes once nothing uses it any more."""

from __future__ import annotations

import builtins
from typing import Any

import libcst as cst

from tf2npu.findings import Level
from tf2npu.frameworks.horovod.names import is_horovod, short_name
from tf2npu.frameworks.horovod.project import horovod_in
from tf2npu.rules.base import Example, rule
from tf2npu.rules.distributed.horovod import HVD, RANKS, SOURCE, WHY
from tf2npu.rules.facts.files.script_kinds import is_eager, is_test_path
from tf2npu.rules.facts.removal_conditions import only_without
from tf2npu.rules.facts.replaced_statement import write_instead
from tf2npu.scanner.import_names import bound_name
from tf2npu.scanner.names import is_framework, root_of
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_COUNTERPARTS = {
    **RANKS, "allreduce": "npu_allreduce", "DistributedOptimizer": "npu_distributed_optimizer_wrapper",
    "BroadcastGlobalVariablesHook": "NPUBroadcastGlobalVariablesHook",
}  # fmt: skip
"""Names of npu_bridge.npu_init in the place of Horovod's."""
_ALWAYS_THERE = "# the collectives of the NPU are always there"
_STAYS = "The import stays, because this still needs it: {}. On a host without Horovod it fails: replace this, and convert again."
_MISSED = (
    "The import stays, because this still needs it: {}. On a host without Horovod the code around takes it for missing, and each "
    "rank trains alone: replace this, and convert again."
)
_HANDED_ON = (
    "The import stays, because {} is handed on. On a host without Horovod it fails: write {} = True in its place once nothing "
    "that gets it calls Horovod."
)
_MODULE_HANDED_ON = (
    "The import stays, because {} is handed on. On a host without Horovod it fails: take the import out, and write None where "
    "the module is handed on, once nothing that gets it calls Horovod."
)
_MODULES = ("horovod", "horovod.tensorflow", "horovod.tensorflow.keras")
_BORROWED = "This still needs Horovod, by way of another file: {}. Replace this, and convert again."


@rule(
    id="NPU401",
    title="Horovod",
    on="import",
    why=WHY,
    done_when="The script starts where Horovod is not installed: `tf2npu run --devices 2` trains two ranks to the end.",
    source=SOURCE,
    examples=(
        Example(
            "import horovod.tensorflow as hvd\nimport tensorflow as tf\nn = hvd.size()",
            "from npu_bridge.npu_init import get_npu_rank_size\nimport tensorflow as tf\nn = get_npu_rank_size()",
            config=HVD,
        ),
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()",
            note="without --distributed horovod",
            level="manual",
        ),
        Example.same("import torch\nimport horovod.torch as hvd\nhvd.init()", note="Horovod of another framework"),
        Example.same("hvd_args.size = 3", note="another object"),
    ),
)
def horovod_import(site: Site) -> None:
    """Takes the import of Horovod out once nothing uses it any more."""
    aliases = _horovod_aliases(site.node)
    if not aliases:
        return _look_at_borrowed(site)
    site.name = "horovod"
    mode = site.script.config.distributed
    if mode == "horovod" and is_eager(site.script):
        site.manual("Take eager execution out and convert again: ranks work together in a graph. The code stays as it is.")
    elif mode == "horovod" and not _is_native(site.node):  # which NPU303 tells about
        _take_out(site, aliases)
    elif mode == "tf":
        site.manual(
            "Horovod found, which --distributed tf does not convert: take it out, or convert with --distributed horovod. With "
            "both, gradients would be averaged twice."
        )
    elif mode != "horovod" and (told := _told_at(site)):
        site.info(f"Horovod is used here, too: what to do is said at {told}.")
    elif mode != "horovod":
        message = "Horovod found: convert with --distributed horovod to train on several NPUs. The code stays as it is."
        site.manual(message, _names_of_the_npu(site, {local for _, local in aliases}))


def _told_at(site: Site) -> str:
    """The script of the project at which Horovod is told, where that is not this one; "" where it is."""
    scripts = [path for path in sorted(horovod_in(site.script.project).starting) if not is_test_path(path)]
    return scripts[0] if scripts and scripts[0] != site.script.path else ""


def _names_of_the_npu(site: Site, names: set[str]) -> str:
    """The import of what stands in the place of what the file uses of Horovod."""
    found = {site.script.name_of(node, scope) or "" for node, scope in _references(site, names)}
    used = sorted({_COUNTERPARTS[short] for short in map(short_name, found) if short in _COUNTERPARTS})
    return f"from npu_bridge.npu_init import {', '.join(used)}" if used else ""


def _look_at_borrowed(site: Site) -> None:
    """Report what still needs Horovod by the name that another file of the project imports."""
    script, node = site.script, site.node
    if script.config.distributed != "horovod" or script.path not in horovod_in(script.project).with_horovod or is_eager(script):
        return
    names = _names_of_project(node)
    uses = _references(site, names) if names else []
    needing = [n for n, scope in uses if (script.name_of(n, scope) or "").startswith("horovod") and not _is_asked(site, n)]
    if needing:
        site.name = "horovod"
        only_without(site, needing, Level.MANUAL, _BORROWED.format)


def _take_out(site: Site, aliases: list[tuple[Any, str]]) -> None:
    names = {local for _, local in aliases}
    known = horovod_in(site.script.project).borrowers
    borrowers = sorted({known[site.script.path, name] for name in names if (site.script.path, name) in known})
    references = _references(site, names)
    uses = [use for use, _ in references]
    modules = {site.source(use) for use, scope in references if site.script.name_of(use, scope) in _MODULES}
    tests = [use for use in uses if _is_asked(site, use)]
    is_flag = _is_guarded(site) and bool(tests or _is_tried(site))
    if not borrowers and not is_flag:
        _remove_aliases(site, [alias for alias, _ in aliases])
        site.fixed("Taken out: what this import gives is no longer used.")
    elif "" in names or len(site.node.names) > len(aliases):
        return site.manual(_STAYS.format(", ".join(borrowers) or "its name in a try or an if"))
    else:
        uses = [use for use in uses if use not in tests]
        write_instead(site, site.node, " = ".join([*(local for _, local in aliases), "True"]), _ALWAYS_THERE)
        if is_flag:
            site.fixed("Horovod is no longer used; its name stays as a flag for the code that asks whether it is there.")
        else:
            site.fixed(f"Horovod is no longer used; its name stays, as {', '.join(borrowers)} imports it from here.")
    message = _MISSED if is_flag else _STAYS

    def told(used: str) -> str:
        if used in names:
            return _HANDED_ON.format(used, used)
        return (_MODULE_HANDED_ON if set(used.split(", ")) <= modules else message).format(used)

    only_without(site, uses, Level.MANUAL, told)
    return None


def _is_native(node: Any) -> bool:
    """Whether a statement imports what Horovod has for native Keras, and nothing else."""
    modules = [node.module] if isinstance(node, cst.ImportFrom) else [alias.name for alias in node.names]
    return all(f"{dotted_name(module)}.".startswith("horovod.keras.") for module in modules)


def _horovod_aliases(node: Any) -> list[tuple[Any, str]]:
    if isinstance(node.names, cst.ImportStar):
        return [(None, "")] if node.module is not None and is_horovod(dotted_name(node.module)) else []
    if isinstance(node, cst.ImportFrom):
        if node.module is None or node.relative or root_of(dotted_name(node.module)) != "horovod":
            return []
        module = dotted_name(node.module)
        chosen = [alias for alias in node.names if is_horovod(f"{module}.{dotted_name(alias.name)}")]
    else:
        chosen = [alias for alias in node.names if is_horovod(dotted_name(alias.name))]
    return [(alias, bound_name(alias)) for alias in chosen]


def _names_of_project(node: Any) -> set[str]:
    """Local names that a statement gives to what may be the project's own; "" for a star."""
    if isinstance(node.names, cst.ImportStar):
        return {""} if node.relative or not is_framework(dotted_name(node.module)) else set()
    if isinstance(node, cst.ImportFrom) and not node.relative and is_framework(dotted_name(node.module)):
        return set()
    own = [a for a in node.names if isinstance(node, cst.ImportFrom) or not is_framework(dotted_name(a.name))]
    return {bound_name(alias) for alias in own}


def _is_guarded(site: Site) -> bool:
    return any(isinstance(a, (cst.Try, cst.If)) for a in site.script.walked.ancestors(site.node))


def _is_tried(site: Site) -> bool:
    return any(isinstance(a, cst.Try) for a in site.script.walked.ancestors(site.node))


def _is_asked(site: Site, node: Any) -> bool:
    """Whether a name is only asked for, as in `if hvd:` and `hvd is not None`."""
    parent = site.script.walked.parents.get(id(node))
    if not isinstance(node, cst.Name):
        return False
    if isinstance(parent, (cst.If, cst.IfExp)):
        return parent.test is node
    if isinstance(parent, cst.Comparison):
        return len(parent.comparisons) == 1 and isinstance(parent.comparisons[0].operator, (cst.Is, cst.IsNot))
    return isinstance(parent, (cst.BooleanOperation, cst.UnaryOperation))


def _references(site: Site, names: set[str]) -> list[tuple[Any, Scope]]:
    """References that start with one of the imported names ("" is a star's); not those to another thing of that name."""
    script, found = site.script, []
    for node, scope in script.walked.references:
        root = dotted_name(node).partition(".")[0]
        owner = scope.lookup_scope(root)
        may_be_of_star = "" in names and owner is None and not hasattr(builtins, root)
        is_of_star = may_be_of_star and (script.name_of(node, scope) or "").startswith("horovod.")
        if is_of_star or (root in names and owner in (None, site.scope, script.module_scope)):
            found.append((node, scope))
    return found


def _remove_aliases(site: Site, removed: list[Any]) -> None:
    node = site.node
    kept = [] if None in removed else [alias for alias in node.names if alias not in removed]
    if kept:
        first, last = node.names[0], node.names[-1]
        start, end = site.script.tree.span(first)[0], site.script.tree.span(last.asname or last.name)[1]
        site.replace_range(start, end, ", ".join(_alias_text(site, alias) for alias in kept))
        return
    if not site.delete_statement(node):
        write_instead(site, site.node, "pass")


def _alias_text(site: Site, alias: Any) -> str:
    return site.source(alias).rstrip(", \t")
