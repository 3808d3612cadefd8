"""The graph's own checks and orders."""

from __future__ import annotations

import pytest

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import strongly_connected, topological
from npu_runtime.graph.spec import Spec
from npu_runtime.graph.verify import verify


def test_verify_names_what_is_wrong() -> None:
    graph = Graph()
    graph.add(Node("a", "Relu", [Value("b")], outputs=[Spec(())]))
    with pytest.raises(ValueError, match="input of a: node b"):
        verify(graph)


def test_components_and_orders() -> None:
    assert strongly_connected({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": []}) == [["c", "b", "a"]]
    late, early = Node("late", "X", [Value("early")]), Node("early", "X")
    assert topological([late, early]) == [early, late]
    with pytest.raises(InvalidArgument, match=r"cycle .*: b -> a -> b"):
        topological([Node("c", "X", [Value("b")]), Node("a", "X", [Value("b")]), Node("b", "X", [Value("a")])])
