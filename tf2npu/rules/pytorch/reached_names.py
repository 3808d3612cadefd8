"""Names of torch.cuda that are reached by a text: getattr, import_module, sys.modules, patches of tests."""

from __future__ import annotations

import re

from tf2npu.frameworks.pytorch.cuda_names import npu_name
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.rules.pytorch.facts.cuda_chains import say_missing
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.rules.pytorch.facts.reached_names import asked_of_torch
from tf2npu.rules.pytorch.facts.shown_texts import is_only_shown
from tf2npu.scanner.sites import Site

_DOTTED = re.compile(r"torch\.cuda(?:\.\w+)*$")
_INNER = ("torch._C._cuda", "torch._C._Cuda")
_TYPE = re.compile(r"torch\.cuda\.(?:sparse\.)?\w*Tensor$")


@rule(
    id="NPT108",
    title="Names of torch.cuda in texts",
    on="string",
    why="A name that is looked up by a text is CUDA's as long as the text says so, and no other rule sees it.",
    done_when="No text that a name is looked up by says cuda.",
    source="Ascend Extension for PyTorch 2.13, list of torch.cuda and its names for the NPU",
    examples=(
        Example.same(
            BEFORE + "if hasattr(torch, 'cuda'):\n    run()\n",
            level="manual",
            write=AFTER + "if hasattr(torch, 'npu'):\n    run()\n",
        ),
        Example.same(BEFORE + "cuda = getattr(torch, 'cuda')\n", note="looked up when it runs", level="manual"),
        Example.same(BEFORE + "import importlib\nm = importlib.import_module('torch.cuda')\n", note="a module", level="manual"),
        Example.same(BEFORE + "ok = hasattr(torch._C, '_cuda_setRNGState')\n", note="an inner name", level="manual"),
        Example.same(BEFORE + "if hasattr(torch.npu, 'empty_cache'):\n    run()\n", note="the NPU's"),
        Example.same(BEFORE + "print('torch.cuda')\n", note="words"),
        Example.same(BEFORE + "if hasattr(args, 'cuda'):\n    run()\n", note="a setting"),
    ),
)  # fmt: skip
def reached_name(site: Site) -> None:
    """Reports texts by which names of torch.cuda are looked up."""
    text = literal_text(site.node)
    if text is None or knows_npu(site.script, site.node):
        return None
    asked = asked_of_torch(site.script, site.node, site.scope)
    is_dotted = bool(_DOTTED.match(text)) and not _TYPE.match(text) and not is_only_shown(site.script, site.node)
    if asked.startswith(_INNER):
        return site.manual(f"{asked} is an interface between PyTorch and CUDA: leave it out, or write what torch.npu has for it.")
    answer = npu_name(asked or (text if is_dotted else ""))
    if answer is None:
        return None
    if answer.npu and answer.npu.rpartition(".")[2] == text:
        return None  # torch.cuda in front of it becomes torch.npu, which has that name, too
    if answer.npu:
        return site.manual(f"A text names {answer.name}: write the text for {answer.npu}.")
    return say_missing(site, answer)
