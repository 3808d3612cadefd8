"""Graphs of captured work: torch.cuda.CUDAGraph and what belongs to it."""

from __future__ import annotations

import re

from tf2npu.frameworks.pytorch.cuda_names import spelled_names
from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.cuda_chains import name_for_npu
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.scanner.sites import Site

_OF_GRAPHS = re.compile(r"\.(?:\w*graph\w*|CUDAGraph)(?:\.|$)")


@rule(
    id="NPT304",
    title="Captured graphs",
    on=("call", "reference"),
    matches=tuple(name for name in spelled_names() if _OF_GRAPHS.search(name)),
    why="A graph of the NPU is captured by classes of torch.npu; the simulated device captures none and says so.",
    done_when="The program names nothing of torch.cuda for its graphs, and a run on a card has captured them.",
    source="Ascend Extension for PyTorch 2.13, list of torch.cuda: CUDAGraph, graph, graph_pool_handle, make_graphed_callables",
    examples=(
        Example(
            BEFORE + "g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    y = net(x)\ng.replay()\n",
            AFTER + "g = torch.npu.NPUGraph()\nwith torch.npu.graph(g):\n    y = net(x)\ng.replay()\n",
        ),
        Example(
            BEFORE + "from torch import cuda\ng = cuda.CUDAGraph()\n",
            AFTER + "from torch_npu import npu as cuda\ng = cuda.NPUGraph()\n",
        ),
        Example.same(BEFORE + "g = torch.npu.NPUGraph()\n", note="the NPU's name"),
        Example.same("import torch\nfrom mine import cuda\ng = cuda.CUDAGraph()\n", note="a module of the project"),
    ),
)  # fmt: skip
def captured_graph(site: Site) -> None:
    """Writes the NPU's names for graphs of captured work."""
    name_for_npu(site)
    if site.fix.changes:
        site.info("A simulated run refuses captured graphs; it runs on a card.")
