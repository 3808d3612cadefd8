"""Texts that name an old type of tensors on a GPU: "torch.cuda.FloatTensor"."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.rules.pytorch.facts.shown_texts import is_only_shown
from tf2npu.scanner.sites import Site

_TYPE = re.compile(r"(?:[rRuU]{1,2})?(?:'''|\"\"\"|'|\")torch\.(cuda)\.(?:sparse\.)?\w*Tensor(?:'''|\"\"\"|'|\")$")
_FORMATTED = re.compile(r"(?:[rRfF]{1,2})(?:'''|\"\"\"|'|\")torch\.(cuda)\.(?:\w*\{[^{}]*\}\w*)+(?:'''|\"\"\"|'|\")$")


@rule(
    id="NPT106",
    title="Texts that name a type of tensors",
    on="string",
    why="A tensor on an NPU says that it is a torch.npu.FloatTensor, and a type of CUDA cannot be made.",
    done_when="No text names a type of tensors of torch.cuda.",
    source="PyTorch 2.13, Tensor.type and torch.set_default_tensor_type, with the name of the backend in the middle",
    examples=(
        Example(
            BEFORE + "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
            AFTER + "torch.set_default_tensor_type('torch.npu.FloatTensor')\n",
        ),
        Example(
            BEFORE + "if x.type() == 'torch.cuda.HalfTensor':\n    x = x.type(\"torch.cuda.FloatTensor\")\n",
            AFTER + "if x.type() == 'torch.npu.HalfTensor':\n    x = x.type(\"torch.npu.FloatTensor\")\n",
        ),
        Example(BEFORE + "x = x.type(f'torch.cuda.{kind}Tensor')\n", AFTER + "x = x.type(f'torch.npu.{kind}Tensor')\n"),
        Example.same(BEFORE + "x = x.type('torch.FloatTensor')\n", note="on the host"),
        Example(
            BEFORE + "assert x.type() == 'torch.cuda.FloatTensor', 'no torch.cuda.FloatTensor'\n",
            AFTER + "assert x.type() == 'torch.npu.FloatTensor', 'no torch.cuda.FloatTensor'\n",
        ),
        Example.same(BEFORE + "print('torch.cuda.FloatTensor')\n", note="words"),
        Example.same("kind = 'torch.cuda.FloatTensor'\n", note="no PyTorch"),
    ),
)  # fmt: skip
def type_text(site: Site) -> None:
    """Writes npu where a text names a type of tensors of torch.cuda."""
    pattern = _FORMATTED if isinstance(site.node, cst.FormattedString) else _TYPE
    found = pattern.match(site.source(site.node))
    if found is None or is_only_shown(site.script, site.node) or knows_npu(site.script, site.node):
        return
    start, _ = site.script.tree.span(site.node)
    site.replace_range(start + found.start(1), start + found.end(1), "npu")
    site.need_adapter(ADAPTER_MODULE)
    site.fixed("The type of tensors on an NPU has npu in its name.")
