"""Imports of torch.cuda and of names that stand in it."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.frameworks.pytorch.framework import IMPORT
from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.cuda_chains import advice_of
from tf2npu.rules.pytorch.facts.cuda_imports import NewImport, NewName, new_import, star_of_cuda
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.import_writing import write_names
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Site


@rule(
    id="NPT102",
    title="Imports of torch.cuda",
    on="import",
    why="Names that are imported from torch.cuda look for a GPU when they are called.",
    done_when="No statement imports torch.cuda, or a name of it.",
    source="Ascend Extension for PyTorch 2.13, list of torch.cuda and its names for the NPU; PyTorch 2.13, import of a submodule",
    examples=(
        Example(
            BEFORE + "from torch.cuda.amp import autocast, GradScaler\n",
            BEFORE + "from torch_npu.npu.amp import autocast, GradScaler\n",
        ),
        Example(
            BEFORE + "from torch import cuda\nok = cuda.is_available()\n",
            BEFORE + "from torch_npu import npu as cuda\nok = cuda.is_available()\n",
        ),
        Example(
            "from torch import nn, cuda, optim\n",
            "from torch import nn, optim\nfrom torch_npu import npu as cuda\n",
        ),
        Example(
            BEFORE + "import torch.cuda\ntorch.cuda.synchronize()\n",
            AFTER + "torch.npu.synchronize()\n",
        ),
        Example(
            "import torch.cuda\ntorch.cuda.synchronize()\n",
            AFTER + "torch.npu.synchronize()\n",
        ),
        Example("import torch, torch.cuda, os\ntorch.cuda.init()\n", f"import torch, os\n{IMPORT}\ntorch.npu.init()\n"),
        Example(BEFORE + "import torch.cuda.amp as amp\n", BEFORE + "import torch_npu.npu.amp as amp\n"),
        Example(
            BEFORE + "from torch.cuda import CUDAGraph, nvtx\n",
            BEFORE + "from torch_npu.npu import NPUGraph as CUDAGraph, mstx as nvtx\n",
        ),
        Example.same(BEFORE + "from torch.cuda import empty_cache, nccl\n", note="the NPU has no nccl", level="manual"),
        Example.same(BEFORE + "from torch.cuda import *\n", note="what it brings is not told", level="manual"),
        Example.same(BEFORE + "from torch.cuda.nvtx import range_push\n", note="mstx is a class", level="manual"),
        Example.same("from .cuda import amp\n", note="a module of the project"),
        Example.same("from numba import cuda\nimport torch\n", note="another library's"),
        Example.same(BEFORE + "if use_npu:\n    pass\nelse:\n    from torch.cuda import amp\n", note="it knows the NPU"),
    ),
)  # fmt: skip
def cuda_import(site: Site) -> None:
    """Imports from torch_npu what a statement imports from torch.cuda, under the same local names."""
    node: Any = site.node
    if "cuda" not in site.source(node):
        return None
    found, star = new_import(node), star_of_cuda(node)
    if not (star or found.missing or found.can_be_written) or knows_npu(site.script, node):
        return None
    if star:
        return site.manual(
            f"What this brings is not told: import the names that are used, from torch_npu.npu and not from {star}."
        )
    if found.missing:
        return _say_missing(site, found)
    if isinstance(node, cst.Import):
        _write_modules(site, found)
    elif not write_names(site, found):
        return site.manual("The names come from several modules for the NPU: take the comments out, or write a line for each.")
    return site.fixed("The names are imported from where the NPU has them.")


def _say_missing(site: Site, found: NewImport) -> None:
    for answer in found.missing:
        name, advice = answer.name, advice_of(answer) or f"use {answer.npu}, which cannot be imported from"
        site.manual(f"The NPU has no {name} to import: {advice}.")


def _write_modules(site: Site, found: NewImport) -> None:
    """Write modules of `import a.b`. One that only makes torch known goes where another statement does that."""
    is_idle = all(name.is_whole and name.is_changed for name in found.names) and _binds_torch_besides(site)
    if is_idle and site.delete_statement(site.node):
        return
    start, end = site.script.tree.span(site.node)
    new = [_written(name) for name in found.names]
    if len({*new}) < len(new) and not site.script.comments(start, end):
        site.replace_range(start, end, f"import {', '.join(dict.fromkeys(new))}")
        return
    for name in found.names:
        if name.is_changed:
            site.replace(name.alias.name, name.new)


def _written(name: NewName) -> str:
    return name.new if name.alias.asname is None else f"{name.new} as {name.local}"


def _binds_torch_besides(site: Site) -> bool:
    """Whether a statement above this one, in the same scope, imports torch as torch."""
    start = site.script.tree.span(site.node)[0]
    nodes = [b.node for b in site.scope.names.get("torch", ()) if b.kind == "import" and b.node is not site.node]
    plain = [node for node in nodes if isinstance(node, cst.Import) and all(alias.asname is None for alias in node.names)]
    blocks = [site.script.walked.parents.get(id(site.script.walked.parents.get(id(node)))) for node in [site.node, *plain]]
    return any(site.script.tree.span(n)[0] < start and block is blocks[0] for n, block in zip(plain, blocks[1:], strict=True))
