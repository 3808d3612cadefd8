"""The question whether a tensor is on a GPU: `is_cuda`."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.pytorch.file_facts import OWN_ATTRIBUTE
from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.frameworks.pytorch.object_kinds import MODULE, TENSOR
from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu, names_npu
from tf2npu.rules.pytorch.facts.own_names import project_flags
from tf2npu.scanner.sites import Site

_SETTINGS = re.compile(r"(?:\w+\.)*(?:arg|opt|option|param|config|cfg|conf|flag|setting|hparam)s?$", re.IGNORECASE)
"""Objects that hold settings of the user's."""
_ATTRIBUTES = tuple(f"{kind}.is_cuda" for kind in (TENSOR, MODULE, "torch.Tensor"))


@rule(
    id="NPT104",
    title="Questions whether a tensor is on a GPU",
    on=("reference", "unknown_attribute"),
    matches={"reference": _ATTRIBUTES, "unknown_attribute": ("is_cuda",)},
    why="is_cuda is False for a tensor on an NPU, so that the program takes the way for the CPU.",
    done_when="The program asks is_npu, not is_cuda.",
    source="Ascend Extension for PyTorch 2.13, migration guide: is_npu",
    examples=(
        Example(
            BEFORE + "x = torch.ones(2)\nif x.is_cuda:\n    x = x.cpu()\n",
            AFTER + "x = torch.ones(2)\nif x.is_npu:\n    x = x.cpu()\n",
        ),
        Example(
            BEFORE + "def go(input, many):\n    if input.is_cuda and many:\n        return next(net.parameters()).is_cuda\n",
            AFTER + "def go(input, many):\n    if input.is_npu and many:\n        return next(net.parameters()).is_npu\n",
        ),
        Example.same(BEFORE + "if args.is_cuda:\n    run()\n", note="a setting"),
        Example.same(
            BEFORE + "class Run:\n    def __init__(self):\n        self.is_cuda = find()\ndef go(x):\n    return x.is_cuda\n",
            note="a class of the project has it",
            level="manual",
        ),
        Example.same("def go(x):\n    return x.is_cuda\n", note="no PyTorch"),
        Example.same(BEFORE + "if x.is_npu or x.is_cuda:\n    run(x)\n", note="it asks for both"),
    ),
)  # fmt: skip
def cuda_question(site: Site) -> None:
    """Writes is_npu for is_cuda."""
    attribute = site.node
    if not isinstance(attribute, cst.Attribute) or attribute.attr.value != "is_cuda" or knows_npu(site.script, attribute):
        return None
    is_unknown = site.name == "is_cuda"
    is_own = bool(_SETTINGS.match(site.source(attribute.value))) or (site.resolve(attribute.value) or "").startswith("user:")
    if is_unknown and (is_own or _asks_for_both(site)):
        return None
    if is_unknown and OWN_ATTRIBUTE in project_flags(site.script):
        return site.manual(
            "A class or an option of the project has the name is_cuda: write is_npu where this is a tensor, and leave it else."
        )
    site.replace(attribute.attr, "is_npu")
    site.need_adapter(ADAPTER_MODULE)
    return site.fixed("A tensor says by is_npu that it is on an NPU.")


def _asks_for_both(site: Site) -> bool:
    """Whether the expression that a question is part of asks for the NPU, too."""
    around = [node for node in site.script.walked.ancestors(site.node) if isinstance(node, cst.BooleanOperation)]
    return any(names_npu(site.source(node)) for node in around)
