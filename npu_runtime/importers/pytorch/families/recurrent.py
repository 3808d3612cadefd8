"""Recurrent layers by one call: for each layer and direction the product with all inputs at once, and a task of all turns.

Source: the device's DynamicRNN does all turns of a layer in one operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse, tensors_in
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import CUBE, ELEMENTWISE, TURNS, ChipOp, Tensor

_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
_GATE_OPS = {4: "LstmGates", 3: "GruGates", 1: "Tanh"}


@dataclass(frozen=True)
class _Layer:
    """One layer in one direction.  of_input, of_state: its filters, gates x extents."""

    of_input: TensorUse
    of_state: TensorUse
    n_gates: int

    @property
    def n_hidden(self) -> int:
        return self.of_state.shape[1]

    @property
    def n_gate_rows(self) -> int:
        return self.n_gates * self.n_hidden


@dataclass(frozen=True)
class _Sequence:
    """x: the inputs.  turns: steps of the longest sequence.  rows: inputs of all turns together."""

    x: TensorUse
    turns: int
    rows: int

    @property
    def batch(self) -> int:
        return -(-self.rows // self.turns)


def recurrent(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """lstm, gru, rnn_tanh, rnn_relu.  Arguments: x, states, filters, ...; with packed sequences x, sizes, states, filters, ..."""
    sequence, made = _sequence(call, 0), None
    for layer in _layers(_filters(call), _GATES[_kind(call)]):
        rows = _rows(builder, sequence, layer, made)
        gates = [(sequence.rows, layer.n_gate_rows)]
        product = builder.launch("MatMul", "MatMulV2", CUBE, [rows, builder.read(layer.of_input)], gates, sequence.x.dtype)
        made = _turns(builder, product.outputs, layer, sequence, row.device_op)
    _keep_results(builder, made, call)


def recurrent_backward(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Their gradients.  Arguments: gradient of the outputs, then those of the layer; results: of x, states, filters."""
    sequence, made = _sequence(call, 1), None
    given = builder.read(next(tensors_in(call.arguments[0])))
    for layer in reversed(list(_layers(_filters(call), _GATES[_kind(call)]))):
        made = _turns_backward(builder, given, layer, sequence, row.device_op)
        of_gates, n_given = made.outputs[0], layer.of_input.shape[1]
        rows = _rows(builder, sequence, layer, made)
        states = Tensor(f"{made.name}h", (sequence.rows, layer.n_hidden), sequence.x.dtype)
        for left, right, shape, attrs in (
            (of_gates, builder.read(layer.of_input), (sequence.rows, n_given), {}),
            (of_gates, rows, (layer.n_gate_rows, n_given), {"transpose_a": True}),
            (of_gates, states, (layer.n_gate_rows, layer.n_hidden), {"transpose_a": True}),
        ):
            made = builder.launch("MatMul", "MatMulV2", CUBE, [left, right], [shape], sequence.x.dtype, attrs)
    _keep_results(builder, made, call)


def _rows(builder: GraphBuilder, sequence: _Sequence, layer: _Layer, before: ChipOp | None) -> Tensor:
    """The inputs of a layer, a row for each turn of each sequence: those of the call, or what the layers before made."""
    shape = sequence.rows, layer.of_input.shape[1]
    if sequence.x.shape[-1] == shape[1]:
        x = builder.read(sequence.x)
        return Tensor(f"{x.name}r", shape, x.dtype, producer=x.producer, base=x, is_part=x.is_part)
    return Tensor(f"{before.name}r" if before else "rows", shape, sequence.x.dtype, producer=before)


def _turns(builder: GraphBuilder, inputs: list[Tensor], layer: _Layer, sequence: _Sequence, device_op: str) -> ChipOp:
    """The task of all turns: each multiplies the state with its filters; then the gates."""
    dtype, filters = sequence.x.dtype, builder.read(layer.of_state)
    state = Tensor(f"{inputs[0].name}s", (sequence.batch, layer.n_hidden), dtype, producer=inputs[0].producer)
    out, attrs = [(sequence.batch, layer.n_gate_rows)], {TURNS: sequence.turns}
    made = builder.launch("MatMul", device_op, CUBE, [state, filters], out, dtype, attrs)
    gates, whole = _GATE_OPS[layer.n_gates], [(sequence.rows, layer.n_hidden)]
    return builder.launch(gates, gates, ELEMENTWISE, [*inputs, *made.outputs], whole, dtype)


def _turns_backward(builder: GraphBuilder, given: Tensor, layer: _Layer, sequence: _Sequence, device_op: str) -> ChipOp:
    """The gradients of the gates, and in every turn their product with the filters of the state; the gates' come first."""
    dtype, filters, gates = sequence.x.dtype, builder.read(layer.of_state), _GATE_OPS[layer.n_gates] + "Grad"
    whole, out = [(sequence.rows, layer.n_gate_rows)], [(sequence.batch, layer.n_hidden)]
    of_gates = builder.launch(gates, gates, ELEMENTWISE, [given], whole, dtype)
    turn = Tensor(f"{of_gates.name}s", (sequence.batch, layer.n_gate_rows), dtype, producer=of_gates)
    builder.launch("MatMul", device_op, CUBE, [turn, filters], out, dtype, {TURNS: sequence.turns})
    return of_gates


def _kind(call: OperatorCall) -> str:
    return call.name.partition("::")[2].removesuffix("_backward")


def _sequence(call: OperatorCall, at: int) -> _Sequence:
    """Turns and rows of the input at a position.  Packed sequences have the sizes of their batches behind it."""
    x = call.arguments[at]
    flags = [value for value in call.arguments[at:] if isinstance(value, bool)]
    if call.overload == "data":
        sizes = call.arguments[at + 1]
        return _Sequence(x, max(1, sizes.n_elements if isinstance(sizes, TensorUse) else len(sizes)), x.shape[0])
    is_batch_first = len(x.shape) == 3 and len(flags) >= 4 and flags[3]
    return _Sequence(x, max(1, x.shape[1 if is_batch_first else 0]), max(1, x.n_elements // x.shape[-1]))


def _filters(call: OperatorCall) -> list[TensorUse]:
    """The list of filters: the last argument that is a list of tensors."""
    lists = [value for value in call.arguments if isinstance(value, (tuple, list)) and any(True for _ in tensors_in(value))]
    return [use for use in tensors_in(lists[-1]) if len(use.shape) == 2]


def _layers(filters: list[TensorUse], n_gates: int) -> Iterator[_Layer]:
    """Pairs of filters: for the inputs and for the state; one of a projection of the state has fewer rows and is left out."""
    pairs = [use for use in filters if use.shape[0] % n_gates == 0]
    for of_input, of_state in zip(pairs[::2], pairs[1::2], strict=False):
        yield _Layer(of_input, of_state, n_gates)


def _keep_results(builder: GraphBuilder, made: ChipOp | None, call: OperatorCall) -> None:
    if made is not None:
        for use in tensors_in(call.results):
            builder.keep(made, use)
