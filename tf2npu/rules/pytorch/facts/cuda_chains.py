"""Chains of attributes that end in a name of CUDA, written anew link by link: `t.cuda.seed` becomes `t.npu.seed`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from npu_formats.pytorch.cuda_names import CudaName
from tf2npu.frameworks.pytorch.cuda_names import npu_name
from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.rules.pytorch.facts.cuda_imports import Answer, new_import, of_cuda
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Site

_IMPORTS = "NPT102"
"""The rule that writes imports of CUDA's names; without it, names that they bind keep their meaning."""


def name_for_npu(site: Site) -> None:
    """Write the NPU's name for the name of CUDA at a site, or say what a person writes."""
    if knows_npu(site.script, site.node):
        return
    answer = npu_name(site.name)
    if answer is None or is_told_elsewhere(site):
        return
    if not answer.npu:
        say_missing(site, answer)
    elif not rename(site, answer.npu):
        site.manual(f"Write {answer.npu} here: the name in front of the dot cannot be followed.")
    elif site.fix.changes:
        site.need_adapter(ADAPTER_MODULE)
        site.fixed(f"The NPU's name is {answer.npu}.")


def say_missing(site: Site, answer: CudaName) -> None:
    """Say that the NPU has no such name, with the list's advice."""
    name, advice = answer.name.replace("()", ""), advice_of(answer)
    site.manual(f"The NPU has no {name}: {advice}.")


def advice_of(answer: CudaName) -> str:
    """The advice about a name that the NPU has not."""
    is_said = answer.advice.startswith("the NPU has no ")
    return answer.advice.partition(": ")[2] if is_said else answer.advice


def is_told_elsewhere(site: Site) -> bool:
    """Whether a site uses a name that was imported or assigned as it is: what is to be said is said there."""
    chain = _links(_callee(site))
    return len(chain) < 2 or not (site.resolve(chain[-2]) or "").startswith("torch")


def rename(site: Site, new: str, answer: Answer = of_cuda) -> bool:
    """Record the changes by which a chain names something else; False where its beginning cannot be followed.

    Nothing is recorded where the beginning of the chain is imported anew, and the rest is the same.
    """
    chain = _links(_callee(site))
    names = [site.resolve(link) or "" for link in chain]
    shared = [number for number, name in enumerate(names) if name and f"{new}.".startswith(f"{name}.")]
    if shared:
        _write(site, chain[shared[-1] :], new[len(names[shared[-1]]) :])
        return True
    number = next((number for number, name in enumerate(names) if npu_name(name) is not None), None)
    base = npu_name(names[number]) if number is not None else None
    if number is None or base is None or not base.npu or not f"{new}.".startswith(f"{base.npu}."):
        return False
    if not _becomes_npu(site, chain[number], answer):
        return False
    _write(site, chain[number:], new[len(base.npu) :])
    return True


def _callee(site: Site) -> Any:
    return site.node.func if isinstance(site.node, cst.Call) else site.node


def _links(node: Any) -> list[Any]:
    """A chain as expressions, each the object whose attribute the next one is."""
    found = [node]
    while isinstance(found[-1], cst.Attribute):
        found.append(found[-1].value)
    return found[::-1]


def _becomes_npu(site: Site, link: Any, answer: Answer) -> bool:
    """Whether a name that stands for something of CUDA stands for the same of the NPU after the conversion."""
    if not isinstance(link, cst.Name):
        return True  # an attribute, to which something of CUDA was assigned
    bindings = site.scope.lookup(link.value)
    for binding in bindings:
        if binding.kind == "import":
            node: Any = binding.node
            if not new_import(node, answer).can_be_written or site.script.is_switched_off(_IMPORTS, node):
                return False
    return bool(bindings) and all(binding.kind in ("import", "value") for binding in bindings)


def _write(site: Site, chain: list[Any], rest: str) -> None:
    """Write what follows the first link of a chain: each name by itself, so that line breaks and comments stay."""
    words = rest.split(".")[1:]
    if len(words) == len(chain) - 1:
        for link, word in zip(chain[1:], words, strict=True):
            if link.attr.value != word:
                site.replace(link.attr, word)
    else:
        start, end = (site.script.tree.span(link)[1] for link in (chain[0], chain[-1]))
        site.replace_range(start, end, rest)
