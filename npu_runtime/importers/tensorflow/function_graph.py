"""The graph of a function of eager code becomes ours: its arguments are fed, but for handles, which lead to variables and to what
the host has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tensorflow.core.protobuf import config_pb2

from npu_runtime.dtypes import ALL
from npu_runtime.graph.ir import Node, Value
from npu_runtime.graph.ops import DRIVEN_LOOP, HANDLES, HOST_RESOURCE, NOT_LOWERED
from npu_runtime.graph.spec import Spec
from npu_runtime.importers.tensorflow.devices import Devices
from npu_runtime.importers.tensorflow.functions import Inliner
from npu_runtime.importers.tensorflow.graphdef import GraphImporter, import_operation
from npu_runtime.importers.tensorflow.handles import Handle
from npu_runtime.importers.tensorflow.lower_while import WHILES, variables
from npu_runtime.importers.tensorflow.optional_next import can_be_handed_over, hand_over
from npu_runtime.importers.tensorflow.source_lines import users_line
from npu_runtime.importers.tensorflow.tensor_specs import import_spec

ARGUMENTS = "arguments"
"""Attribute of a driven loop: all values that its functions are given, handles as well."""
IS_VALUE = "is_value"
"""Attribute of a driven loop: for each argument whether it is a value that goes from turn to turn, and no handle."""
_MAKES_LIST = re.compile(r"EmptyTensorList|TensorList.*")
_SOFT = config_pb2.ConfigProto(allow_soft_placement=True)
"""The rule of eager code: a CPU stands for a device that there is not."""


_LOOPS_OF_DATASETS = frozenset({"ScanDataset", "ReduceDataset"})
_OF_DATASETS = re.compile(r".*(Dataset|Iterator).*")


def why_no_program(func_graph: Any) -> str:
    """The reason for which a function cannot be a program, "" for none: what it is given or returns cannot cross to the device.

    Source: a list of tensors, which the forward function of a tape hands to the backward one, is no array of a device.
    """
    for tensor in func_graph.outputs:
        if tensor.dtype.base_dtype.name in HANDLES:
            return f"it returns a {tensor.dtype.base_dtype.name}, which cannot leave the device"
    for tensor in func_graph.inputs:
        is_list = tensor.dtype.base_dtype.name == "variant"
        if is_list and not all(_OF_DATASETS.fullmatch(operation.type) for operation in tensor.consumers()):
            return "it is given a list of tensors, which TensorFlow holds"
    return ""


def why_nothing_to_compute(func_graph: Any) -> str:
    """The reason for which the device has nothing to do for a function.

    Source: AutoGraph makes a loop over a dataset a function of tf.data (python/data/ops/dataset_autograph.py).
    """
    if any(operation.type in _LOOPS_OF_DATASETS for operation in func_graph.get_operations()):
        return (
            "its loop over a dataset is a function of the input pipeline, which runs on the host: loop outside of the "
            "function, or inside with tf.range and next(iterator)"
        )
    return "nothing to compute"


class FunctionImporter(GraphImporter):
    """Follows the FuncGraph of one function, called with one set of variables.

    variables: the handle by the name of the placeholder that stands for it in the graph.  place: "file:line" that called it
    first, which stands for nodes without a line of their own, such as its inputs.  lists: names of the inputs that are lists of
    the device, which are fed.
    """

    def __init__(
        self, func_graph: Any, variables: Mapping[str, Handle], place: str = "", lists: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(func_graph, Devices(_SOFT))
        self._variables, self._place, self._lists = variables, place, lists
        handles = {tensor.op.name for tensor in func_graph.inputs if tensor.dtype.base_dtype.name in HANDLES}
        self._inputs = handles - lists

    def trainable(self) -> frozenset[str]:
        """Names of the nodes of the variables that the program trains."""
        watched = {id(variable.handle) for variable in self.tf_graph.trainable_variables}
        found = {inner.op.name for outer, inner in self.tf_graph.captures if id(outer) in watched}
        return frozenset(found & self._variables.keys())

    def _add(self, operation: Any) -> None:
        if operation.name in self._inputs:
            self.graph.add(self._handle_node(operation))
        else:
            super()._add(operation)
            self._drive(self.graph[operation.name])
            self._hand_over(self.graph[operation.name])

    def source_of(self, name: str) -> str:
        """See GraphImporter; of a node of an inner function the line that made it there, of what has none the first call's."""
        origin = self._inliner.origins.get(name)
        return (users_line(origin) if origin is not None else "") or super().source_of(name) or self._place

    def function(self, name: str) -> Any:
        """The FuncGraph of a function that the graph calls."""
        return self.tf_graph._get_function(name).graph

    def _make_inliner(self) -> Inliner:
        return Inliner(self.tf_graph, self.graph, import_operation, self.function)

    def _drive(self, node: Node) -> None:
        """Let the session run a loop turn by turn that would go to the host for a node of its body, such as an iterator's next.

        Its handles are the same in each turn. Lists of the device go from turn to turn as they are; others keep it where it is.
        """
        if node.op not in WHILES or NOT_LOWERED not in node.attrs:
            return
        changing = variables(self._inliner.load(node.attrs["body"]))
        is_value = [spec.dtype not in HANDLES or self._is_list(v) for v, spec in zip(node.inputs, node.outputs, strict=True)]
        if not changing or not all(is_value[i] for i in changing):
            return
        for position, value in enumerate(node.inputs):
            if not is_value[position]:
                self._inliner.aliases[Value(node.name, position)] = value
        node.op = DRIVEN_LOOP
        del node.attrs[NOT_LOWERED]
        node.attrs.update({ARGUMENTS: tuple(node.inputs), IS_VALUE: tuple(is_value)})
        node.inputs = [value for value, one in zip(node.inputs, is_value, strict=True) if one]

    def _hand_over(self, node: Node) -> None:
        """Let the device have the next element of an iterator that may have ended."""
        if can_be_handed_over(node):
            nodes, optional = hand_over(self._inliner, node, self.definition(node.name))
            for one in nodes:
                self.graph.add(one)
            self._inliner.aliases[Value(node.name)] = optional

    def _is_list(self, value: Value) -> bool:
        """Whether a variant is a list of tensors that the device makes."""
        node = self.graph[value.node]
        while node.op == "Identity":
            node = self.graph[node.inputs[0].node]
        return node.name in self._lists or (_MAKES_LIST.fullmatch(node.op) is not None and node.attrs.get("element_dtype") in ALL)

    def _handle_node(self, operation: Any) -> Node:
        """The maker of a handle: of a variable, or of what the host has."""
        handle = self._variables.get(operation.name)
        if handle is None:
            return Node(operation.name, HOST_RESOURCE, outputs=[import_spec(operation.outputs[0])])
        attrs = {"dtype": handle.dtype, "shape": handle.shape, "shared_name": handle.name, "container": ""}
        return Node(operation.name, "VarHandleOp", attrs=attrs, outputs=[Spec(handle.shape, "resource")])
