"""Marks and ranges of torch.cuda.nvtx, which a profile of a GPU shows."""

from __future__ import annotations

import libcst as cst

from tf2npu.frameworks.pytorch.cuda_names import spelled_names
from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.cuda_chains import is_told_elsewhere, name_for_npu
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site

_RANGE = "torch.cuda.nvtx.range"


@rule(
    id="NPT303",
    title="Marks of a profile",
    on=("call", "reference"),
    matches=tuple(name for name in spelled_names() if "nvtx" in name),
    why="The profiler of the NPU shows marks that are set by torch.npu.mstx, and none of torch.cuda.nvtx.",
    done_when="The program names nothing of torch.cuda.nvtx.",
    source="Ascend Extension for PyTorch 2.13, torch_npu/npu/mstx.py: mark, range_push, range_pop, range_start, annotate",
    examples=(
        Example(
            BEFORE + "torch.cuda.nvtx.range_push('forward')\ny = net(x)\ntorch.cuda.nvtx.range_pop()\n",
            AFTER + "torch.npu.mstx.range_push('forward')\ny = net(x)\ntorch.npu.mstx.range_pop()\n",
        ),
        Example(
            BEFORE + "with torch.cuda.nvtx.range('step'):\n    step()\n",
            AFTER + "with torch.npu.mstx.annotate('step'):\n    step()\n",
        ),
        Example(
            BEFORE + "import torch.cuda.nvtx as nvtx\nwith nvtx.range('here'):\n    step()\n",
            AFTER + "import torch_npu.npu.mstx as nvtx\nwith nvtx.annotate('here'):\n    step()\n",
        ),
        Example.same(
            BEFORE + "with torch.cuda.nvtx.range('step {}', i):\n    step()\n",
            note="annotate takes a stream there",
            level="manual",
            write=AFTER + "with torch.npu.mstx.annotate('step {}'.format(i)):\n    step()\n",
        ),
        Example.same(BEFORE + "torch.npu.mstx.range_push('forward')\n", note="the NPU's name"),
        Example.same("import nvtx\nimport torch\nnvtx.push_range('forward')\n", note="a package of its own"),
    ),
)  # fmt: skip
def nvtx_name(site: Site) -> None:
    """Writes torch.npu.mstx for torch.cuda.nvtx."""
    if not (isinstance(site, Call) and site.name == _RANGE and len(site.node.args) > 1):
        name_for_npu(site)
    elif not knows_npu(site.script, site.node) and not is_told_elsewhere(site):
        site.manual("Format the text of the range first, and write torch.npu.mstx.annotate for it.", _formatted(site))


def _formatted(site: Call) -> str:
    """The range with its text formatted; empty where the arguments are not written out."""
    text, *values = [site.source(arg.value) for arg in site.args]
    is_plain = not site.has_star_args and isinstance(site.args[0].value, cst.SimpleString)
    given = [f"{arg.keyword.value}={value}" if arg.keyword else value for arg, value in zip(site.args[1:], values, strict=True)]
    return f"torch.npu.mstx.annotate({text}.format({', '.join(given)}))" if is_plain else ""
