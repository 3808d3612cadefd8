"""Names of MindSpore r1.0 and r1.1 that MindSpore 2.10 does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from tf2npu.frameworks.mindspore.names import canonical, changed
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.sites import Call, Site

_NAMES = tuple(changed("name"))
_SOURCE = "The lists __all__ of MindSpore r1.1, each name looked up in MindSpore 2.10"


@rule(
    id="NPM101",
    title="Names that are gone",
    on=("reference", "call"),
    matches=_NAMES,
    once=True,
    why="A card of today comes with MindSpore 2, on which a program for r1.0 or r1.1 stops at such a name.",
    done_when="The program imports MindSpore 2 and names none of these.",
    source=_SOURCE,
    examples=(
        Example.same(
            "import mindspore.ops as ops\ny = ops.ControlDepend()(a, b)\n",
            level="manual",
            write="import mindspore.ops as ops\ny = ops.depend(a, b)\n",
        ),
        Example.same(
            "from mindspore import ms_function\n@ms_function\ndef f(x):\n    return x\n",
            level="manual",
            write="from mindspore import jit\n@jit\ndef f(x):\n    return x\n",
        ),
        Example.same(
            "from mindspore.ops import functional as F\nF.control_depend(a, b)\n",
            level="manual",
            write="import mindspore.ops as ops\nb = ops.depend(b, a)\n",
        ),
        Example.same("from mindspore.ops import operations as P\ny = P.MatMul()(a, b)\n", note="still there"),
        Example.same("import mindspore.nn as nn\ny = nn.Conv2d(1, 2, 3)\n", note="still there"),
    ),
)
def changed_name(site: Site) -> None:
    """Reports the use of a name that MindSpore 2.10 does not have."""
    name = canonical(site.name)
    site.manual(f"MindSpore 2.10 has no {name}: {changed('name')[name].instead}.")


@part_of(
    changed_name,
    on="import",
    examples=(
        Example.same(
            "import mindspore.dataset.vision.c_transforms as CV\n",
            level="manual",
            write="import mindspore.dataset.vision as CV\n",
        ),
        Example.same(
            "from mindspore.dataset.transforms import c_transforms as C\n",
            level="manual",
            write="from mindspore.dataset import transforms as C\n",
        ),
        Example.same("import mindspore.dataset.vision as CV\n", note="still there"),
        Example.same("from .compression import prune\nimport mindspore\n", note="the project's own module"),
    ),
)
def changed_module(site: Site) -> None:
    """Reports imports of modules that MindSpore 2.10 does not have."""
    for name in _imported(site.node):
        module = next((module for module in changed("module") if f"{name}.".startswith(f"{module}.")), None)
        if module is not None:
            site.manual(f"MindSpore 2.10 has no module {module}: {changed('module')[module].instead}.")


def _imported(node: Any) -> Iterator[str]:
    """The dotted names that a statement imports of MindSpore."""
    if isinstance(node, cst.ImportFrom):
        module = "" if node.module is None or node.relative else get_full_name_for_node(node.module) or ""
        names = [] if isinstance(node.names, cst.ImportStar) else [alias.evaluated_name for alias in node.names]
        yield from (f"{module}.{name}" for name in names) if module else ()
        return
    yield from (alias.evaluated_name for alias in node.names)


@rule(
    id="NPM102",
    title="Settings that are gone",
    matches=("mindspore.context.set_context", "mindspore.set_context"),
    why="MindSpore 2 refuses a setting that it does not have.",
    done_when="set_context of MindSpore 2 takes the settings.",
    source="MindSpore 2.10, each setting of r1.1 handed to set_context and get_auto_parallel_context",
    examples=(
        Example.same(
            "from mindspore import context\ncontext.set_context(mode=0, enable_hccl=True)\n",
            level="manual",
            write="from mindspore import context\ncontext.set_context(mode=0)\n",
        ),
        Example.same("from mindspore import context\ncontext.set_context(mode=0, device_id=1)\n", note="still there"),
    ),
)
def changed_setting(call: Call) -> None:
    """Reports settings of set_context that MindSpore 2.10 does not have."""
    _report_settings(call, "context", "set_context")


@part_of(
    changed_setting,
    matches=("mindspore.context.set_auto_parallel_context", "mindspore.set_auto_parallel_context"),
    examples=(
        Example.same(
            "from mindspore import context\ncontext.set_auto_parallel_context(mirror_mean=True)\n",
            level="manual",
            write="from mindspore import context\ncontext.set_auto_parallel_context(gradients_mean=True)\n",
        ),
    ),
)
def changed_parallel_setting(call: Call) -> None:
    """Reports settings of set_auto_parallel_context that MindSpore 2.10 does not have."""
    _report_settings(call, "parallel", "set_auto_parallel_context")


def _report_settings(call: Call, kind: str, function: str) -> None:
    given = [argument.keyword.value for argument in call.node.args if argument.keyword is not None]
    for name in given:
        if name in changed(kind):
            call.manual(f"{function} of MindSpore 2.10 has no setting {name}: {changed(kind)[name].instead}.")


@rule(
    id="NPM201",
    title="Sinking is no longer the default",
    matches=("mindspore.Model().train",),
    why="Model.train of r1.x keeps data on the device unless it is told otherwise; MindSpore 2 does not unless it is told to.",
    source="The signature of Model.train in r1.1 and in MindSpore 2.10",
    examples=(
        Example.same(
            "from mindspore import Model\nmodel = Model(net, loss, opt)\nmodel.train(10, data)\n",
            level="info",
            write="from mindspore import Model\nmodel = Model(net, loss, opt)\nmodel.train(10, data, dataset_sink_mode=True)\n",
        ),
        Example.same(
            "from mindspore import Model\nmodel = Model(net)\nmodel.train(1, data, dataset_sink_mode=False)\n", note="it says so"
        ),
    ),
)
def sinking_default(call: Call) -> None:
    """Says of Model.train without dataset_sink_mode that its default changed."""
    names = {argument.keyword.value for argument in call.node.args if argument.keyword is not None}
    if "dataset_sink_mode" not in names and len(call.node.args) < 4 and not any(argument.star for argument in call.node.args):
        call.info(
            "Model.train of r1.x sinks data by default, that of MindSpore 2 does not: write dataset_sink_mode=True to keep it."
        )
