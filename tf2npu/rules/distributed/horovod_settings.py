"""Settings of Horovod that the NPU's collectives do not have: how gradients are compressed, and how they are reduced."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.findings import Level
from tf2npu.frameworks.horovod.names import names_of
from tf2npu.rules.base import Example, rule
from tf2npu.rules.distributed.horovod import HVD, SOURCE, WHY, is_on
from tf2npu.rules.facts.removal_conditions import only_without, target_names, uses_of_targets
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_COMPRESSION = names_of("Compression")
_SETTINGS = frozenset({
    *(f"{name}.{kind}" for name in _COMPRESSION for kind in ("none", "fp16")),
    *names_of("Average", "Sum", "Adasum", "Min", "Max", "Product"),
})  # fmt: skip
_TAKING = ("DistributedOptimizer", "DistributedGradientTape", "allreduce", "load_model")
_NO_SUCH_SETTING = "The NPU averages gradients as they are and has no such setting: leave it out."


@rule(
    id="NPU408",
    title="Horovod settings",
    on="reference",
    matches=(*_COMPRESSION, *sorted(_SETTINGS)),
    why=WHY,
    done_when="No line sets or reads this any more, and `tf2npu run --devices 2` trains both ranks.",
    source=SOURCE,
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
            "c = hvd.Compression.fp16 if small else hvd.Compression.none\nopt = hvd.DistributedOptimizer(opt, compression=c)",
            "from npu_bridge.npu_init import npu_distributed_optimizer_wrapper\nimport tensorflow as tf\n"
            "c = None\nopt = npu_distributed_optimizer_wrapper(opt)",
            config=HVD,
        ),
        Example(
            "import horovod.tensorflow as hvd\nimport tensorflow as tf\ndef train(op=hvd.Average):\n    pass",
            "import tensorflow as tf\ndef train(op=None):\n    pass",
            config=HVD,
        ),
        Example.same(
            "import horovod.tensorflow as hvd\nc = hvd.Compression.fp16\ng, context = c.compress(g)",
            note="used for something else",
            level="unsupported",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\nc = hvd.Compression.fp16", note="without --distributed horovod"),
    ),
)
def setting(site: Site) -> None:
    """Puts None in the place of a setting of Horovod that is kept or handed on; what takes it no longer does."""
    if not is_on(site) or not _is_of_horovod(site):
        return
    whole = _whole(site)
    around = _around(site, whole)
    if whole is None or around is None:
        return site.unsupported(_NO_SUCH_SETTING)
    site.replace(whole, "None")
    site.fixed("None in the place of a setting that the NPU's collectives do not have.")
    if isinstance(around, (cst.Assign, cst.AnnAssign)):
        whole = [n for n in uses_of_targets(site, around) if dotted_name(n) in target_names(around)]
        handed_on = [n for n in whole if isinstance(_around(site, n), cst.Arg)]
        uses = [n for n in uses_of_targets(site, around) if n not in handed_on]
        only_without(site, uses, Level.UNSUPPORTED, lambda used: _NO_SUCH_SETTING)


def _is_of_horovod(site: Site) -> bool:
    """Whether this is said of Horovod itself, and not of a name that the script gave to a setting."""
    bindings = site.scope.lookup(dotted_name(site.node).partition(".")[0])
    return all(binding.kind != "value" for binding in bindings)


def _whole(site: Site) -> Any:
    """The widest expression around a setting that gives nothing but settings; None where one is looked up in another way."""
    parents = site.script.walked.parents
    node: Any = site.node
    if site.name in _COMPRESSION:
        call = parents.get(id(parents.get(id(node))))
        node = call if isinstance(call, cst.Call) and _is_lookup(site, call) else None
    parent = parents.get(id(node))
    while isinstance(parent, cst.IfExp) and parent.test is not node and _is_setting(site, parent):
        node, parent = parent, parents.get(id(parent))
    return node


def _is_lookup(site: Site, call: cst.Call) -> bool:
    """`getattr(hvd.Compression, name)`."""
    is_getattr = site.resolve(call.func) == "builtins.getattr" and len(call.args) >= 2
    return is_getattr and site.resolve(call.args[0].value) in _COMPRESSION


def _is_setting(site: Site, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.IfExp):
        return _is_setting(site, node.body) and _is_setting(site, node.orelse)
    if isinstance(node, cst.Call):
        return _is_lookup(site, node)
    return isinstance(node, (cst.Name, cst.Attribute)) and site.resolve(node) in (*_SETTINGS, "None")


def _around(site: Site, node: Any) -> Any:
    """The node that takes an expression's value and may take None; None where a call of Horovod or a comparison takes it."""
    parents = site.script.walked.parents
    parent: Any = parents.get(id(node))
    while isinstance(parent, (cst.IfExp, cst.BooleanOperation)) and getattr(parent, "test", None) is not node:
        node, parent = parent, parents.get(id(parent))
    if isinstance(parent, cst.Arg):
        return None if _is_for_horovod(site, parents.get(id(parent))) else parent
    if isinstance(parent, cst.Assign) and all(_is_name(target.target) for target in parent.targets):
        return parent
    if isinstance(parent, cst.AnnAssign) and _is_name(parent.target):
        return parent
    is_taken = isinstance(parent, (cst.Param, cst.DictElement, cst.Element, cst.Return, cst.Lambda))
    return parent if is_taken and getattr(parent, "key", None) is not node else None


def _is_for_horovod(site: Site, call: Any) -> bool:
    """Whether a call is one of Horovod's, also by a name that is not known to be Horovod, or one that asks for the value."""
    if not isinstance(call, cst.Call):
        return False
    name, last = site.resolve(call.func) or "", dotted_name(call.func).rpartition(".")[2]
    if name == "functools.partial":
        name = site.resolve(call.args[0].value) or ""
    return name.startswith(("horovod.", "builtins.")) or (not name and last in _TAKING)


def _is_name(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.Name, cst.Attribute)) and bool(dotted_name(node))
