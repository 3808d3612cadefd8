"""Before: operators of a training step as TensorFlow writes them.  After: those that the chip has one operator for.

FusedBatchNormV3 -> Sub -> Mul -> AssignSub, of mean and variance -> BNTrainingUpdate also moves the two averages.
Mul of a variable by a number -> AddN with the gradient, beside L2Loss of the variable -> FusedMulAddNL2loss.
Mul of a gradient by a number -> ApplyMomentum -> FusedMulApplyMomentum.
Source: patterns and names of three passes of the vendor's open operator library (FusedBatchnormFusionPass,
MulAddNL2LossFusionPass, A_MomentumLossscaleFusionPass).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from npu_runtime.lowering.chip_graph import MOVEMENT, ChipGraph, ChipOp, Tensor

DECAYED, SCALED_MOMENTUM = "FusedMulAddNL2loss", "FusedMulApplyMomentum"
"""The device's operators of a gradient with weight decay and of an update by a gradient that is scaled."""
_STATISTICS = slice(1, 3)
"""Mean and variance of a batch among the results of a normalisation."""
_GRADIENT = 3
"""The gradient among the inputs of ApplyMomentum."""


def fuse_training(graph: ChipGraph, fetched: Collection[Tensor]) -> None:
    """Join what the chip does in one operator.  fetched: tensors that leave the graph, and so are made in any case."""
    _Joining(graph, fetched).run()


class _Joining:
    """readers: of each tensor.  gone: operators that others do now.  after_decay: those that need an L2Loss, by whatever way."""

    def __init__(self, graph: ChipGraph, fetched: Collection[Tensor]) -> None:
        self.graph, self.fetched = graph, frozenset(fetched)
        self.readers = graph.readers()
        self.gone: set[ChipOp] = set()
        self.after_decay = _after_decay(graph)

    def run(self) -> None:
        for op in self.graph.ops:
            if op.op_type == "BNTrainingUpdate":
                self._join_averages(op)
            elif op.op == "L2Loss":
                self._join_decay(op)
            elif op.op in ("ApplyMomentum", "ResourceApplyMomentum"):
                self._join_scale(op)
        self.graph.ops = _producers_first([op for op in self.graph.ops if op not in self.gone])

    def _join_averages(self, op: ChipOp) -> None:
        """Both averages, or none, are moved by the normalisation."""
        found = [chain for made in op.outputs[_STATISTICS] for chain in self._averages(made)]
        if len(found) != 2:
            return
        there = {t.storage for t in op.inputs}
        op.inputs += [chain[-1].inputs[0] for chain in found if chain[-1].inputs[0].storage not in there]
        _take(op, [part for chain in found for part in chain])
        self.gone.update(part for chain in found for part in chain)

    def _averages(self, statistic: Tensor) -> Iterator[list[ChipOp]]:
        """Sub, Mul and AssignSub that move a variable towards a statistic."""
        for less in self.readers.get(statistic, []):
            times = self._only_reader(less) if less.op == "Sub" else None
            moved = self._only_reader(times) if times is not None and times.op == "Mul" and _number_of(times) else None
            is_move = moved is not None and moved.op in ("AssignSub", "AssignSubVariableOp")
            if times is not None and moved is not None and is_move and moved.inputs[0].storage is less.inputs[0].storage:
                yield [less, times, moved]

    def _join_decay(self, loss: ChipOp) -> None:
        """The gradient's sum makes the loss too, unless it waits for such a loss itself."""
        weight, reader = loss.inputs[0].storage, self._only_reader(loss)
        if not weight.is_variable or reader is None or reader.op != "AddN":
            return
        for times in self.readers.get(weight, []):
            total = self._only_reader(times) if times.op == "Mul" and _number_of(times) else None
            if total is None or total.op != "AddN" or len(total.inputs) != 2 or total in self.after_decay or total in self.gone:
                continue
            others = [t for t in total.inputs if t.storage is not times.outputs[0]]
            total.op = total.op_type = DECAYED
            total.inputs, total.pattern = [*times.inputs, *others], MOVEMENT
            total.outputs = [*total.outputs, *loss.outputs]
            for made in loss.outputs:
                made.producer = total
            _take(total, [times, loss])
            self.gone.update((times, loss))
            return

    def _join_scale(self, update: ChipOp) -> None:
        if len(update.inputs) <= _GRADIENT:
            return
        gradient = update.inputs[_GRADIENT]
        times = gradient.producer
        if times is None or times.op != "Mul" or not _number_of(times) or self._only_reader(times) is not update:
            return
        update.inputs[_GRADIENT : _GRADIENT + 1] = times.inputs
        update.op_type = SCALED_MOMENTUM
        _take(update, [times])
        self.gone.add(times)

    def _only_reader(self, op: ChipOp) -> ChipOp | None:
        """The operator that alone reads the one result of another."""
        if len(op.outputs) != 1 or op.outputs[0] in self.fetched or op in self.gone:
            return None
        found = self.readers.get(op.outputs[0], [])
        return found[0] if len(found) == 1 else None


def _number_of(times: ChipOp) -> bool:
    """Whether one of the two factors is a single number."""
    return len(times.inputs) == 2 and any(t.n_elements == 1 for t in times.inputs)


def _take(op: ChipOp, others: list[ChipOp]) -> None:
    op.members = tuple(dict.fromkeys((*op.members, *(name for other in others for name in other.members))))


def _after_decay(graph: ChipGraph) -> set[ChipOp]:
    found: set[ChipOp] = set()
    for op in graph.ops:
        makers = [t.storage.producer for t in op.inputs]
        if any(maker is not None and (maker.op == "L2Loss" or maker in found) for maker in makers):
            found.add(op)
    return found


def _producers_first(ops: list[ChipOp]) -> list[ChipOp]:
    """The operators in an order of execution, that of the list where it is one."""
    left, ordered = set(ops), []
    for first in ops:
        stack = [first]
        while stack:
            op = stack[-1]
            waiting = [t.storage.producer for t in op.inputs if t.storage.producer in left and t.storage.producer is not op]
            if op not in left or not waiting:
                stack.pop()
                if op in left:
                    left.discard(op)
                    ordered.append(op)
            else:
                stack += [maker for maker in waiting if maker is not None]
    return ordered
