"""Pooling that remembers where its largest numbers were: the device keeps a bit for each place of a window, torch an index."""

from __future__ import annotations

import math

from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, argument
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import MOVEMENT


def max_pool(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """max_pool2d_with_indices and its like.  Arguments: x, extents of the window."""
    made = builder.launch(row.op, row.device_op, MOVEMENT, [builder.read(call.arguments[0])])
    window = argument(call, 1, "kernel_size", ())
    n_places = math.prod(window * 2 if len(window) == 1 else window) if isinstance(window, tuple) else window**2
    builder.keep(made, call.results[0])
    for use in call.results[1:]:
        builder.keep(made, use, bits=n_places)
