"""The element type of labels."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.file_kinds import names_device
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.rules.pytorch.facts.training_loops import training_loops
from tf2npu.scanner.sites import Site

_FUNCTIONS = tuple(f"torch.nn.functional.{name}" for name in ("cross_entropy", "nll_loss"))
_CLASSES = tuple(f"torch.nn.{name}" for name in ("CrossEntropyLoss", "NLLLoss"))
_LOOP = "for x, y in data:\n    loss = F.cross_entropy(net(x.npu()), y.npu())\n    loss.backward()\n"


@rule(
    id="NPT401",
    title="Types of labels",
    on=("call", "reference"),
    matches=(*_FUNCTIONS, *_CLASSES),
    why="Old guides cast labels to int32, which today's releases of torch_npu do not need.",
    source="the textbook's listing 5-44, which is for PyTorch 1.5; torch.nn.functional.cross_entropy takes int64",
    examples=(
        Example.same(
            f"{BEFORE}import torch.nn.functional as F\n{_LOOP}",
            level="info",
            write=f"{BEFORE}{_LOOP.replace('cross_entropy', 'mse_loss')}",
        ),
        Example.same(f"{BEFORE}import torch.nn.functional as F\nloss = F.cross_entropy(net(x), y)\n", note="no device"),
        Example.same(f"{BEFORE}import torch.nn.functional as F\n{_LOOP.replace('cross_entropy', 'mse_loss')}", note="no labels"),
    ),
)
def label_type(site: Site) -> None:
    """Says that labels stay int64."""
    script = site.script
    if names_device(script) and training_loops(script) and "int32" not in script.text and not knows_npu(script, site.node):
        site.info(
            "Labels stay int64. Guides for PyTorch 1.5 cast them to int32 for the NPU; later releases take them as they are."
        )
