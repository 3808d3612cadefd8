"""Operators that read their operands whole and make their results: element-wise work, reductions, movements, random numbers."""

from __future__ import annotations

from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse, changed_tensors, tensors_in
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import AI_CPU, ELEMENTWISE, MOVEMENT, NORMALIZATION, REDUCTION

_PATTERNS = {
    "elementwise": ELEMENTWISE, "reduction": REDUCTION, "movement": MOVEMENT, "normalization": NORMALIZATION, "ai_cpu": AI_CPU,
}  # fmt: skip


def plain(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """One operator of the row's pattern."""
    inputs = [
        *builder.read_all(call.arguments),
        *(t for key, use in call.keywords.items() if key != "out" for t in builder.read_all(use)),
    ]
    made = builder.launch(row.op, row.device_op, _PATTERNS[row.family], inputs)
    for use in written_tensors(call):
        builder.keep(made, use)


def fill(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Results that depend on no tensor: constants, ranges."""
    made = builder.launch(row.op, row.device_op, ELEMENTWISE, [])
    for use in written_tensors(call):
        builder.keep(made, use)


def random(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Random numbers of the AI CPU, one an element."""
    made = builder.launch(row.op, row.device_op, AI_CPU, [])
    for use in written_tensors(call):
        builder.keep(made, use)


def view(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Nothing is launched: the result shows memory that is there, or memory in which nothing is yet."""
    for use in tensors_in(call.results):
        builder.forget(use)


def nothing(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """No task: a question that the host answers, or a wait."""


def unmapped(builder: GraphBuilder, call: OperatorCall) -> None:
    """An operator that the table does not know: a movement of all that it reads and writes, and counted.

    One that neither makes nor changes a tensor launches nothing, as views do.
    """
    given = {use.storage for use in tensors_in(call.arguments)}
    if not changed_tensors(call) and all(use.storage in given for use in tensors_in(call.results)):
        return
    builder.graph.unmapped.append(call.name)
    bare = call.name.partition("::")[2].strip("_") or call.name
    plain(builder, call, OperatorRow(call.name, "movement", bare, bare))


def written_tensors(call: OperatorCall) -> list[TensorUse]:
    """The tensors that a call makes or changes, each storage once."""
    found: dict[int, TensorUse] = {}
    for use in (*tensors_in(call.results), *changed_tensors(call)):
        found.setdefault(use.storage, use)
    return list(found.values())
