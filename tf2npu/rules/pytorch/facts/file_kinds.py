"""Kinds of files: those that have to do with PyTorch, that name CUDA, and that bring something to a device."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.pytorch.framework import NAME
from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.tree_walk import dotted_name

_CUDA_TEXT = re.compile(r"(?:cpu:gloo,)?(?:cuda|nccl)\b")
_DEVICE = re.compile(
    r"\bcuda\b|\bnpu\b|\btorch\.accelerator\b|\bhccl\b|\bnccl\b|\.to\(\s*(?:self\.)?(?:device|args\.device|gpu|rank|local_rank)\b"
)


def reaches_torch(script: Script) -> bool:
    """Whether a file imports PyTorch, itself or through files of the project."""
    return script.project.is_reaching(script.path, NAME)


@fact
def names_cuda(script: Script) -> bool:
    """Whether the code of a file names CUDA or NCCL, by a name or by a text."""
    parts = (dotted_name(node).split(".") for node, _ in script.walked.references if isinstance(node, (cst.Name, cst.Attribute)))
    if any("cuda" in part.lower() or "nccl" in part.lower() for names in parts for part in names):
        return True
    last = (node.attr.value for node, _ in script.walked.references if isinstance(node, cst.Attribute))
    return any(name in ("cuda", "is_cuda") for name in last) or any(map(_is_cuda, script.walked.strings))


def _is_cuda(node: cst.CSTNode) -> bool:
    """Whether a literal is the name of a device of CUDA, or begins with one."""
    if isinstance(node, cst.FormattedString):
        first = node.parts[0] if node.parts else None
        return isinstance(first, cst.FormattedStringText) and _CUDA_TEXT.match(first.value) is not None
    return _CUDA_TEXT.match(literal_text(node) or "") is not None


@fact
def names_device(script: Script) -> bool:
    """Whether a file says that something goes to a device other than the CPU."""
    return _DEVICE.search(script.text) is not None
