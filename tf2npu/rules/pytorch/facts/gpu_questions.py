"""Questions that only a GPU can answer: with the NPU's names they end with an error, or take an NPU for a GPU."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_MAKER = re.compile(r"\btorch\.version\.hip\b")
"""The release of ROCm: a condition with it asks whose GPU there is."""
_CAPABILITY = re.compile(r"\btorch\.cuda\.get_device_capability\b")
_INNER = re.compile(r"\btorch\._C\._cuda\w*")
"""Functions that PyTorch has where it was built for CUDA, and nowhere else."""
_QUESTION = re.compile(r"\btorch\.cuda\.(?:is_available|device_count|current_device|get_device_\w+)\b")
_USE = re.compile(r"\btorch\.cuda\b|\.cuda\(|['\"]cuda")


def asks_about_gpu(script: Script, node: cst.CSTNode) -> bool:
    """Whether a place is part of such a question, so that it has to stay with the rest of it."""
    return _may_ask(script) and any(_is_question(script, ancestor) for ancestor in script.walked.ancestors(node))


@fact
def _may_ask(script: Script) -> bool:
    return any(pattern.search(script.text) for pattern in (_MAKER, _CAPABILITY, _INNER))


def _is_question(script: Script, part: cst.CSTNode) -> bool:
    if isinstance(part, cst.BooleanOperation):
        source = script.tree.source(part)
        return _MAKER.search(source) is not None or _asks_capability(source)
    if isinstance(part, cst.FunctionDef):
        return _asks_capability(script.tree.source(part.body))
    return isinstance(part, cst.If) and part.orelse is None and _is_for_inner(script, part)


def _asks_capability(source: str) -> bool:
    """Whether code asks for a GPU and for its compute capability, and does nothing else with it."""
    is_asked = "torch.cuda.is_available" in source and _CAPABILITY.search(source) is not None
    return is_asked and _USE.search(_QUESTION.sub("", source)) is None


def _is_for_inner(script: Script, choice: cst.If) -> bool:
    """Whether a branch for GPUs has nothing of CUDA but functions of the inside of PyTorch."""
    body = script.tree.source(choice.body)
    return "torch.cuda" in script.tree.source(choice.test) and _INNER.search(body) is not None and _USE.search(body) is None
