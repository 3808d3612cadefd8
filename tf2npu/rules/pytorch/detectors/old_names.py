"""Code for PyTorch before 0.4, which today's PyTorch does not run."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.file_kinds import reaches_torch
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.tree_walk import first_key, root_name

_SCALAR = re.compile(r"loss|err|cost|acc\b|accuracy|norm|correct", re.IGNORECASE)
"""Names that people give to numbers."""


@rule(
    id="NPT506",
    title="PyTorch before 0.4",
    matches=("torch.autograd.Variable",),
    why="A tensor of PyTorch 0.4 and later is a Variable, without volatile, and one number has no index.",
    done_when="The file names neither volatile nor data[0].",
    source="migration guide of PyTorch 0.4.0",
    examples=(
        Example.same(
            f"{BEFORE}from torch.autograd import Variable\nx = Variable(x, volatile=True)\ny = net(x)\n",
            level="manual",
            write=f"{BEFORE}with torch.no_grad():\n    y = net(x)\n",
        ),
        Example.same(f"{BEFORE}from torch.autograd import Variable\nx = Variable(x)\n", note="it runs"),
    ),
)
def volatile(call: Call) -> None:
    """Reports tensors that are marked as volatile."""
    if call.value("volatile") is not None and call.args:
        call.manual(
            "volatile has no effect since PyTorch 0.4, so that gradients are kept: write `with torch.no_grad():` around what "
            "computes with this tensor.",
            f"with torch.no_grad():\n    {call.source(call.args[0].value)}",
        )


@part_of(
    volatile,
    on="module",
    matches=("torch.Tensor.item",),
    examples=(
        Example.same(
            f"{BEFORE}print(loss.data[0])\n", level="manual", write=f"{BEFORE}print(loss.item())\n"
        ),
        Example.same(f"{BEFORE}row = table.data[0]\n", note="a row"),
        Example.same(f"{BEFORE}loss.data[0] = 0\n", note="it is written to"),
    ),
)  # fmt: skip
def indexed_number(site: Site) -> None:
    """Reports numbers that are read by an index of 0."""
    script = site.script
    for node, _ in script.walked.references if reaches_torch(script) else ():
        item: Any = script.walked.parents.get(id(node))
        if not isinstance(node, cst.Attribute) or node.attr.value != "data" or not _SCALAR.search(script.tree.source(node.value)):
            continue
        if not isinstance(item, cst.Subscript) or len(item.slice) != 1 or not root_name(node):
            continue
        key = first_key(item)
        target = script.walked.parents.get(id(item))
        is_read = not isinstance(target, (cst.AssignTarget, cst.Del)) and not script.is_switched_off(site.fix.rule, item)
        if is_read and isinstance(key, cst.Integer) and key.value == "0":
            site.fix.site = script.tree.span(item)
            tensor = script.tree.source(node.value)
            site.manual(
                "A number has no index since PyTorch 0.4: write item().",
                f"{tensor}.item()",
                replaces=True,
            )
