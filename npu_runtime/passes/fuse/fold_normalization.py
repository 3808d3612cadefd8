"""Before: Conv2D(1x1) -> FusedBatchNormV3 and their gradients.  After: _NormalizedProduct, _NormalizedProductGrad, ...InputGrad.

Where the convolution widens an image, the normalisation's statistics and gradients follow from the narrow side: the wide
result is neither kept nor passed over. Runs behind the passes that join normalisations with activations.
"""

from __future__ import annotations

from typing import NamedTuple

from npu_runtime.analysis.movable_reads import Writers, shows_variable
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.fused.normalized_activation import NORMALIZED_ACTIVATION
from npu_runtime.kernels.fused.normalized_activation_gradient import NORMALIZED_ACTIVATION_GRADIENT
from npu_runtime.kernels.fused.normalized_product_gradients import (
    NORMALIZED_PRODUCT_GRADIENT,
    NORMALIZED_PRODUCT_INPUT_GRADIENT,
)
from npu_runtime.kernels.fused.normalized_products import NORMALIZED_PRODUCT, is_worth_it
from npu_runtime.passes.base import graph_pass

FORWARD = ("FusedBatchNormV3", NORMALIZED_ACTIVATION)
BACKWARD = ("FusedBatchNormGradV3", NORMALIZED_ACTIVATION_GRADIENT)
VARIANCE, SPREAD, MEAN = 4, 6, 7
"""Numbers of the product's outputs that its gradient reads."""
READ = "ReadVariableOp"
CONVOLVED = ("strides", "padding", "data_format", "dilations")
"""Attributes that a convolution and its gradients share."""


class _Chain(NamedTuple):
    """A convolution, the normalisation behind it, and what goes back through both; nothing else reads what lies between."""

    conv: Node
    norm: Node
    grad: Node
    by_filter: Node
    by_input: Node | None


@graph_pass
def fold_normalization(graph: Graph) -> int:
    """Make widening 1x1 convolutions and the normalisations behind them one product; returns the number of pairs."""
    finding = _Finding(graph)
    chains = [chain for node in graph if node.op == "Conv2D" and (chain := finding.chain(node))]
    for chain in chains:
        _fold(graph, chain, finding.readers)
    return len(chains)


class _Finding:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers = graph.consumers()
        self.seen = graph.kept() | graph.waited_for()
        self.writers = Writers(graph)

    def chain(self, conv: Node) -> _Chain | None:
        """The chain that begins at a convolution, if it is one."""
        if conv.name in self.seen or conv.controls or not self._widens(conv):
            return None
        readers = self.readers.get(Value(conv.name), [])
        norms, grads = ([node for node in readers if node.op in ops] for ops in (FORWARD, BACKWARD))
        if len(readers) != 2 or len(norms) != 1 or len(grads) != 1:
            return None
        norm, grad = norms[0], grads[0]
        if not (self._is_plain(norm) and norm.inputs[0] == Value(conv.name) and self._belongs(norm, grad)):
            return None
        handed_on = self.readers.get(Value(grad.name), [])
        by_filter = [node for node in handed_on if self._is_gradient(node, "Conv2DBackpropFilter", conv, 0)]
        by_input = [node for node in handed_on if self._is_gradient(node, "Conv2DBackpropInput", conv, 1)]
        if len(by_filter) != 1 or len(by_input) > 1 or len(handed_on) != 1 + len(by_input):
            return None
        if by_filter[0].controls or by_filter[0].name in self.seen or not self._may_be_read_again(conv, grad, by_input):
            return None
        return _Chain(conv, norm, grad, by_filter[0], by_input[0] if by_input else None)

    def _widens(self, conv: Node) -> bool:
        """Whether it is a 1x1 convolution in fp32, channels last, whose result is wide enough."""
        x, w = (self.graph.spec(value) for value in conv.inputs)
        if conv.host_reason is not None or not (x.is_complete and w.is_complete) or conv.outputs[0].dtype != "float32":
            return False
        rows, cols, channels, filters = w.known_shape()
        is_plain = conv.attrs.get("data_format", "NHWC") == "NHWC" and conv.attrs.get("padding") in ("SAME", "VALID")
        has_steps = any(n != 1 for n in conv.attrs["strides"])
        is_one = (rows, cols, channels) == (1, 1, x.known_shape()[3])
        return is_plain and is_one and not has_steps and is_worth_it(x.known_shape(), filters)

    def _is_plain(self, norm: Node) -> bool:
        return (
            norm.host_reason is None and norm.attrs.get("is_training", True) and norm.attrs.get("data_format", "NHWC") == "NHWC"
        )

    def _belongs(self, norm: Node, grad: Node) -> bool:
        """Whether `grad` is the gradient of `norm`, and nothing but gradients of the convolution reads what it hands on."""
        given = grad.inputs[2:] if grad.op == NORMALIZED_ACTIVATION_GRADIENT else grad.inputs[1:]
        wanted = [norm.inputs[0], norm.inputs[1], Value(norm.name, 3), Value(norm.name, 4)]
        is_shown = any(Value(grad.name, i) in self.graph.fetches for i in (0, 3, 4))
        is_shown = is_shown or any(self.readers.get(Value(grad.name, i)) for i in (3, 4))
        is_same = grad.attrs.get("epsilon", 1e-4) == norm.attrs.get("epsilon", 1e-4)
        return self._is_plain(grad) and list(given[:4]) == wanted and is_same and not is_shown

    def _is_gradient(self, node: Node, op: str, conv: Node, place: int) -> bool:
        """Whether a node is the gradient of a convolution that reads its input at that place, and gives that by the other."""
        if node.op != op or node.host_reason is not None or node.inputs[place] != conv.inputs[place]:
            return False
        is_same = all(node.attrs.get(name) == conv.attrs.get(name) for name in CONVOLVED)
        return is_same and node.outputs[0].shape == self.graph.spec(conv.inputs[1 - place]).shape

    def _may_be_read_again(self, conv: Node, grad: Node, by_input: list[Node]) -> bool:
        """Whether what the convolution reads is the same for the gradients that did not read it before."""
        x, w = conv.inputs
        return self._is_same(x, [grad, *by_input]) and self._is_same(w, [grad])

    def _is_same(self, value: Value, readers: list[Node]) -> bool:
        """Whether no update comes before these readers; what was read of a resource variable stays."""
        is_fixed = self.graph[value.node].op == READ or not shows_variable(self.graph, value)
        return is_fixed or self.writers.comes_later(value, readers)


def _fold(graph: Graph, chain: _Chain, readers: dict[Value, list[Node]]) -> None:
    """Rewrite the nodes of a chain; the normalisation's keep their names and their outputs' numbers."""
    conv, norm, grad, by_filter, by_input = chain
    x, w = conv.inputs
    scale = norm.inputs[1]
    channels = graph.spec(x).known_shape()[3]
    matrix, vector = Spec((channels, channels), "float32"), Spec((channels,), "float32")

    norm.compute([conv, norm])
    norm.origins = {**norm.origins, SPREAD: None, MEAN: None}
    norm.op, norm.inputs = NORMALIZED_PRODUCT, [x, w, *norm.inputs[1:]]
    norm.attrs = {**conv.attrs, **norm.attrs}
    norm.outputs = [*norm.outputs, matrix, vector]
    del graph.nodes[conv.name]

    is_activated = grad.op == NORMALIZED_ACTIVATION_GRADIENT
    gradients, features = grad.inputs[0], grad.inputs[1:2] if is_activated else []
    passed_on = Value(grad.original_names[0]) if is_activated else None
    grad.origins = {0: passed_on, 3: by_filter.origin(0), 4: None, 5: None}
    grad.compute([grad, by_filter])
    grad.op = NORMALIZED_PRODUCT_GRADIENT
    statistics = [Value(norm.name, output) for output in (VARIANCE, SPREAD, MEAN)]
    grad.inputs = [gradients, x, w, scale, *statistics, *features]
    passed = grad.outputs[0] if is_activated else Spec((0,), "float32")
    grad.outputs = [passed, *grad.outputs[1:3], by_filter.outputs[0], *grad.outputs[1:3]]

    old, new = Value(by_filter.name), Value(grad.name, 3)
    for reader in readers.get(old, []):
        reader.inputs = [new if value == old else value for value in reader.inputs]
    del graph.nodes[by_filter.name]
    if by_input is not None:
        dz = Value(grad.name) if is_activated else gradients
        by_input.op, by_input.attrs = NORMALIZED_PRODUCT_INPUT_GRADIENT, {}
        by_input.inputs = [dz, x, w, *statistics, *(Value(grad.name, i) for i in (2, 4, 5))]
