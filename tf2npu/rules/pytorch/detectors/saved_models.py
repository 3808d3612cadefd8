"""Whole models in files, which torch.load refuses since PyTorch 2.6."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_OF_MODULES = frozenset((
    "eval", "train", "parameters", "named_parameters", "modules", "children", "state_dict", "load_state_dict", "forward",
    "zero_grad", "flatten_parameters",
))  # fmt: skip
"""Methods that modules have, and dictionaries and tensors have not."""


@rule(
    id="NPT505",
    title="Whole models in files",
    matches=("torch.load",),
    why="torch.load makes tensors and plain containers only since PyTorch 2.6, unless it is told to make any object.",
    done_when="torch.load reads a state_dict, or says weights_only=False.",
    source="release notes of PyTorch 2.6: the default of weights_only is True",
    examples=(
        Example.same(
            f"{BEFORE}model = torch.load(path)\nmodel.eval()\n",
            level="manual",
            write=f"{BEFORE}model = torch.load(path, weights_only=False)\nmodel.eval()\n",
        ),
        Example.same(f"{BEFORE}model.load_state_dict(torch.load(path))\n", note="a state_dict"),
        Example.same(f"{BEFORE}data = torch.load(path)\nx = data['x']\n", note="a dictionary"),
        Example.same(f"{BEFORE}model = torch.load(path, weights_only=False)\nmodel.eval()\n", note="it says so"),
    ),
)
def whole_model(call: Call) -> None:
    """Reports whole models that torch.load reads without weights_only=False."""
    if call.has_star_args or call.value("weights_only") is not None or knows_npu(call.script, call.node):
        return
    if not _is_model(call) or "safe_globals" in call.script.text:
        return
    args = [call.source(arg).rstrip(", \n") for arg in call.args]
    call.manual(
        "A whole model is read here, which torch.load refuses since PyTorch 2.6: write weights_only=False where the file is your "
        "own, or save and load the state_dict.",
        f"{call.source(call.node.func)}({', '.join([*args, 'weights_only=False'])})",
        replaces=True,
    )


def _is_model(call: Call) -> bool:
    """Whether what is loaded is used as a module: by a method of modules, or by a call."""
    parents = call.script.walked.parents
    user: Any = parents.get(id(call.node))
    if isinstance(user, cst.Attribute):
        return user.attr.value in _OF_MODULES
    if not isinstance(user, cst.Assign) or len(user.targets) != 1:
        return False
    target: Any = user.targets[0].target
    return call.source(target) in _used_as_modules(call.script) and not isinstance(target, cst.Subscript)


@fact
def _used_as_modules(script: Script) -> set[str]:
    """Names and attributes, as they are written, that methods of modules are called on."""
    found = set()
    for node, _ in script.walked.calls:
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _OF_MODULES:
            found.add(script.tree.source(node.func.value))
    return found
