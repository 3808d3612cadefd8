"""Calls in training loops that wait for the device, or give tensors of a new size in each step."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.tree_search import nodes_in
from tf2npu.rules.pytorch.facts.file_kinds import names_device, reaches_torch
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.rules.pytorch.facts.training_loops import runs_in_each_step, training_loops
from tf2npu.scanner.sites import Call, Site

_SIZES = ("nonzero", "masked_select", "unique", "unique_consecutive")
_HEAD = "import torch\nimport torch_npu\nfor x, y in data:\n    loss = net(x.npu())\n    loss.backward()\n"


@rule(
    id="NPT504",
    title="Waiting for the device in each step",
    on=("call", "unknown_method"),
    matches={"call": ("torch.Tensor().item",), "unknown_method": ("item",)},
    why="The host gives the NPU work ahead of time, and stands still where it asks for a value.",
    source="item() copies to the host and waits (aten::_local_scalar_dense); nonzero and its likes have results of unknown size",
    examples=(
        Example.same(f"{_HEAD}    total += loss.item()\n", level="info", write=f"{_HEAD}    total += loss.detach()\n"),
        Example.same(f"{_HEAD}    if step % 100 == 0:\n        print(loss.item())\n", note="now and then"),
        Example.same("import torch\nimport torch_npu\ny = net(x.npu()).item()\n", note="no training loop"),
    ),
)
def waits_for_value(call: Call) -> None:
    """Says of item() in a training loop that each step waits for the device."""
    if _counts(call):
        call.info(
            "Each step waits here until the NPU has done everything before. Add the tensor itself up, with detach(), and call "
            "item() once in a while."
        )


@part_of(
    waits_for_value,
    on=("call", "unknown_method"),
    matches={
        "call": tuple(f"torch.{name}" for name in _SIZES) + tuple(f"torch.Tensor().{name}" for name in _SIZES),
        "unknown_method": _SIZES,
    },
    examples=(
        Example.same(f"{_HEAD}    found = torch.nonzero(y)\n", level="info"),
        Example.same("import torch\nimport torch_npu\nfound = torch.nonzero(x.npu())\n", note="no training loop"),
    ),
)
def new_size(call: Call) -> None:
    """Says of operators in a training loop that the size of their results is not known ahead."""
    if _counts(call):
        name = call.name.rpartition(".")[2]
        call.info(
            f"The size of what {name} gives depends on values: each step waits here for the NPU, and operators behind it may be "
            "compiled again for each size. torch.where, or a product with the mask, keeps the size."
        )


@part_of(
    waits_for_value,
    on="module",
    matches=("torch.Tensor.masked_select",),
    examples=(
        Example.same(f"{_HEAD}    kept = y[y > 0]\n", level="info"),
        Example.same(f"{_HEAD}    y[y > 0] = 0\n", note="an assignment keeps the size"),
    ),
)
def masked_index(site: Site) -> None:
    """Says the same of an index that is a comparison."""
    script = site.script
    if not (reaches_torch(script) and names_device(script)):
        return
    for loop in training_loops(script).values():
        for found in filter(_is_masked, nodes_in(loop, cst.Subscript)):
            is_written = isinstance(script.walked.parents.get(id(found)), (cst.AssignTarget, cst.AugAssign, cst.Del))
            if is_written or script.is_switched_off(site.fix.rule, found):
                continue
            site.fix.site = script.tree.span(found)
            site.info(
                "The size of what a mask picks out depends on values: each step waits here for the NPU. torch.where, or a "
                "product with the mask, keeps the size."
            )


def _is_masked(node: cst.Subscript) -> bool:
    """Whether the index is a comparison."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    return isinstance(index, cst.Index) and isinstance(index.value, cst.Comparison)


def _counts(call: Call) -> bool:
    script = call.script
    return (
        reaches_torch(script)
        and names_device(script)
        and runs_in_each_step(script, call.node)
        and not knows_npu(script, call.node)
    )
