"""Before: Shape -> (folded).  After: nodes that nothing needs any more are gone."""

from __future__ import annotations

from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import FEED, LOOP_INPUT
from npu_runtime.graph.order import predecessors
from npu_runtime.passes.base import graph_pass


@graph_pass
def remove_unused(graph: Graph) -> int:
    """Drop device nodes that no fetch, target or host node reaches; returns how many. Feeds stay: callers count them."""
    work = [value.node for value in graph.fetches] + graph.targets
    work += [node.name for node in graph if node.host_reason is not None]
    needed: set[str] = set()
    while work:
        name = work.pop()
        if name not in needed:
            needed.add(name)
            work += predecessors(graph[name])
    unused = [node.name for node in graph if node.name not in needed and node.op not in (FEED, LOOP_INPUT)]
    for name in unused:
        del graph.nodes[name]
    return len(unused)
