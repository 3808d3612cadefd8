"""Pairs of tensors of the device and of the reference, and the rows of the table without verdicts.

Inputs stand beside the tensor of their producer; casts and changes of layout are walked through.  Source: the behaviour of
msaccucmp; the reasons in the table are its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from npu_formats.whole_number import whole_number
from tf2npu.comparison.graph.operators import Graph, Operator, OutputDesc, name_renamed
from tf2npu.comparison.graph.reference_nodes import ReferenceNode
from tf2npu.comparison.metrics import not_computed
from tf2npu.comparison.rows import Row
from tf2npu.comparison.structure import Pair, Structure
from tf2npu.comparison.tensors.folder import NPY, TensorFolder
from tf2npu.comparison.tensors.layouts import NotComparable
from tf2npu.comparison.tensors.stored_tensor import StoredTensor, read_dump_file, read_npy
from tf2npu.comparison.unreadable import Unreadable, told
from tf2npu.comparison.verdicts import DIFFERS, NOT_COMPARED

WALKED_THROUGH = ("Cast", "TransData")
"""Types of operators whose output stands beside the tensor of their input."""
ANOTHER_NODE = "another node of this name in the reference: its op or its inputs are others"
"""Reason of a row without figures."""
_MOST_WALKED = 1000
"""Operators in a row that are walked through; a damaged graph file may have a ring of them."""


@dataclass(frozen=True)
class Partner:
    """A tensor of the reference.  described: what the graph file says of it.

    other: its name where it is not that of the graph file.  is_doubtful: whether it only has that name, and is another node's.
    """

    tensor: StoredTensor
    described: OutputDesc
    producer: str
    other: str = ""
    is_doubtful: bool = False


Judge = Callable[[Row, StoredTensor, Partner], None]
"""Fills the figures of a row."""


class _NoPartner(Exception):
    """There is none; the text is the table's, "" where the vendor's program says nothing."""


@dataclass
class GraphPairing:
    """The rows of a graph.

    nodes: of the reference, where they are known.  unreadable: gathered, each once.
    """

    graph: Graph
    dump: TensorFolder
    reference: TensorFolder
    judge: Judge
    nodes: Mapping[str, ReferenceNode] = field(default_factory=dict)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._groups: dict[str, list[Operator]] = {}
        self._by_name: dict[str, Operator] = {}
        self._read_before: dict[Path, StoredTensor] = {}
        self._structure = Structure(self.graph, self.nodes)
        for operator in self.graph.operators:
            if operator.name not in self._by_name:
                self._by_name[operator.name] = operator
                self._groups.setdefault(_group(operator), []).append(operator)
        for operators in self._groups.values():
            if len(operators) == 1:
                name_renamed(operators[0])
        self._in_order = list(self._groups.values())

    def n_groups(self) -> int:
        """The number of groups of operators; each has an index of the table."""
        return len(self._in_order)

    def n_bytes(self, index: int) -> int:
        """Bytes of a group's dump files."""
        files = [self.dump.latest(operator.name) for operator in self._in_order[index]]
        return sum(file.size_bytes() for file in files if file is not None)

    def group_rows(self, index: int) -> list[Row]:
        """The rows of a group, in the order of the table."""
        operators = self._in_order[index]
        if len(operators) == 1:
            return list(self._of_one(index, operators[0]))
        if operators[0].l1_group:
            return list(self._of_several(index, operators, self._first_and_last(operators)))
        return list(self._of_several(index, operators, [part for part in operators if not part.is_inner]))

    def _of_one(self, index: int, operator: Operator) -> Iterator[Row]:
        names = operator.name, ",".join(operator.original_names) or "*"
        found = list(self._of_operator(index, operator, names))
        if found:
            yield from found
        else:
            yield self._empty(index, operator, names, _no_dump_file(operator))

    def _of_several(self, index: int, operators: list[Operator], chosen: list[Operator]) -> Iterator[Row]:
        """Rows of originals that became several operators, or of a group in which some were fused."""
        originals = dict.fromkeys(",".join(part.original_names) for part in operators)
        in_order = [part.name for names in originals for part in operators if ",".join(part.original_names) == names]
        names = ",".join(in_order), ",".join(originals)
        reasons = [_inner(part) for part in operators if part.is_inner] if not operators[0].l1_group else []
        found = []
        for operator in chosen:
            rows = list(self._of_operator(index, operator, names))
            if not rows:
                reasons.append(_no_dump_file(operator))
            found += rows
        if operators[0].l1_group and not chosen:
            reasons = ["The fusion operator list is empty"]
        yield from found or [self._empty(index, operators[0], names, ",".join(reasons))]

    def _first_and_last(self, operators: list[Operator]) -> list[Operator]:
        """The operators of a group that count: the one that ran first, for its inputs, and the last one."""
        files = [(self.dump.latest(operator.name), operator) for operator in operators]
        ran = sorted([(file.timestamp, n) for n, (file, _) in enumerate(files) if file is not None])
        chosen = [operators[n] for _, n in ran]
        if chosen and chosen[0].original_names != chosen[-1].original_names:
            return [chosen[0], chosen[-1]]
        return chosen[-1:]

    def _of_operator(self, index: int, operator: Operator, names: tuple[str, str]) -> Iterator[Row]:
        """A row for each input and each output in the operator's dump file; none where that is missing or unreadable."""
        file = self.dump.latest(operator.name)
        if file is None:
            return
        try:
            stored = read_dump_file(file.path)
        except Unreadable as error:
            self._note(error)
            return
        for side, tensors in (("input", stored.inputs), ("output", stored.outputs)):
            for n, tensor in enumerate(tensors):
                row = self._row(index, operator, names, f"{operator.name}:{side}:{n}")
                row.shape = f"[{','.join(map(str, tensor.shape))}]"
                row.device_address = str(tensor.address) if tensor.address else row.device_address
                self._fill(row, operator, n, tensor)
                yield row

    def _fill(self, row: Row, operator: Operator, n: int, tensor: StoredTensor) -> None:
        try:
            partner = self._partner(operator, n, row)
            self.judge(row, tensor, partner)
            if partner.is_doubtful and row.verdict == DIFFERS:
                _clear(row)
            elif partner.other:
                row.why = f"{row.why}; beside {partner.other}".removeprefix("; ")
        except (_NoPartner, NotComparable) as error:
            row.reason = error.text if isinstance(error, NotComparable) else str(error)
            row.why = error.why if isinstance(error, NotComparable) else row.reason
        except (Unreadable, MemoryError) as error:
            found = told(error, tensor.path)
            self._note(found)
            row.why = str(found)

    def _partner(self, operator: Operator, n: int, row: Row) -> Partner:
        producer, output = self._producer(operator, n) if row.is_input else (operator, n)
        for _ in range(_MOST_WALKED):
            if producer.op_type not in WALKED_THROUGH:
                break
            producer, output = self._producer(producer, output)
        row.producer, row.is_of_variable = f"{producer.name}:{output}", "Variable" in producer.op_type
        described = _described(producer, output)
        missing = _NoPartner(f"[{operator.name}] There is no the ground truth dump file for {row.tensor}.")
        if described is None or not described.origin_name or self.reference.kind != NPY:
            raise missing
        named = described.origin_name, output if described.origin_index == -1 else described.origin_index
        pair = self._structure.pair(producer, output) or Pair(named)
        file = self.reference.latest(*pair.tensor)
        if file is None:
            raise missing
        other = "{}:{}".format(*pair.tensor) if pair.tensor != named else ""
        is_another = row.is_input and producer.op_type == "Const" and not self._structure.reads(operator, n, named)
        return Partner(self._read(file.path), described, row.producer, other, pair.is_doubtful or is_another)

    def _read(self, path: Path) -> StoredTensor:
        """The header of each npy file is read once: for the operator that makes the tensor, and for those that take it."""
        if path not in self._read_before:
            self._read_before[path] = read_npy(path)
        return self._read_before[path]

    def _producer(self, operator: Operator, n: int) -> tuple[Operator, int]:
        if n >= len(operator.inputs):
            raise NotComparable("", f"the graph file has no input {n} of {operator.name}")
        name, index = _source(operator.inputs[n])
        if name not in self._by_name:
            raise _NoPartner(f'There is no "{name}" in the fusion rule file.')
        return self._by_name[name], index

    def _note(self, error: Unreadable) -> None:
        self.unreadable.setdefault(str(error.path), error)

    def _row(self, index: int, operator: Operator, names: tuple[str, str], tensor: str) -> Row:
        return Row(
            index, operator.op_type, *names, tensor=tensor, operator=operator.name, order=operator.order, line=operator.line
        )

    def _empty(self, index: int, operator: Operator, names: tuple[str, str], reason: str) -> Row:
        row = self._row(index, operator, names, "NaN")
        row.reason = row.why = reason
        return row


def _group(operator: Operator) -> str:
    """Operators of one group stand under one index: they were fused together, or became of the same originals."""
    if operator.l1_group:
        return operator.l1_group
    names = operator.original_names
    if len(names) == 1:
        return names[0] or operator.name
    return "\0".join(["", "".join(names)]) if names else operator.name


def _described(operator: Operator, output: int) -> OutputDesc | None:
    if not operator.outputs:
        return None
    return operator.outputs[output if output < len(operator.outputs) else 0]


def _source(text: str) -> tuple[str, int]:
    parts = text.split(":")
    start = f"The input information ({text}) is invalid. "
    if len(parts) != 2:
        raise _NoPartner(f"{start}It only supports op_name:index.")
    name, index = (part.strip() for part in parts)
    if not name:
        raise _NoPartner(f"{start}The input operator name is empty.")
    output = whole_number(index)
    if output is None:
        raise _NoPartner(f"{start}The input index only supports numbers.")
    return name, output


def _clear(row: Row) -> None:
    """Take back the figures of a row whose tensor has the name of its partner, and nothing else."""
    row.figures, row.values, row.measures, row.missed = not_computed(), {}, None, []
    row.verdict, row.reason, row.why = NOT_COMPARED, "", ANOTHER_NODE


def _no_dump_file(operator: Operator) -> str:
    return f'[{operator.name}] There is no dump file for my output operator "{operator.name}". The type is {operator.op_type}.'


def _inner(operator: Operator) -> str:
    return f"[{operator.name}] The op is inner node for multi to multi relation.Skip the op."
