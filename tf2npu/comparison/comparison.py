"""One comparison from its folders to its rows: what was taken, every row, and where the difference begins."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

from tf2npu.comparison.dump_pairing import DumpPairing
from tf2npu.comparison.graph_file import Graph
from tf2npu.comparison.graph_search import find_graph, graph_in
from tf2npu.comparison.judging import fill, measure
from tf2npu.comparison.pairing import GraphPairing
from tf2npu.comparison.result_table import Columns
from tf2npu.comparison.rounding import excuse
from tf2npu.comparison.rows import Row
from tf2npu.comparison.spread_work import all_rows
from tf2npu.comparison.steps import Chosen, choose
from tf2npu.comparison.tensor_folder import NPY, TensorFolder, read_folder
from tf2npu.comparison.unreadable import Unreadable
from tf2npu.comparison.verdicts import DIFFERS, NOT_COMPARED, Thresholds
from tf2npu.tensor_libraries import EXIT_UNREADABLE


class NoGraph(Exception):
    """There is no graph file, and without one the tensors of the reference cannot be told; the text says what to do."""


@dataclass
class Comparison:
    """chosen: the two steps.  graph: None between two dumps without one.  notes: sentences on what was taken and left out.

    unreadable: files that could not be read; the others are compared.  pairing: what the rows were made of.
    """

    chosen: Chosen
    graph: Graph | None
    thresholds: Thresholds
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    pairing: GraphPairing | DumpPairing | None = None

    def with_tensors(self, row: Row) -> Row:
        """A row with what reads its tensors again, which a row of another process does not have."""
        if row.beside is not None or self.pairing is None:
            return row
        again = [other for other in self.pairing.group_rows(row.index) if other.tensor == row.tensor]
        return again[0] if again else row

    @property
    def columns(self) -> Columns:
        return Columns(has_reference_address=self.chosen.reference.kind != NPY)

    def counts(self) -> Counter[str]:
        """Rows by verdict."""
        return Counter(row.verdict for row in self.rows)

    def first_difference(self) -> Row | None:
        """The first output, in order of execution, that differs although all inputs of its operator agree.

        Where there is none, because what differs came in from outside: the first row that differs.
        """
        differing = [row for row in self.rows if row.verdict == DIFFERS]
        bad_inputs = _with_bad_inputs(self.rows)
        begins = [row for row in differing if not row.is_input and row.operator not in bad_inputs]
        return min(begins or differing, key=_by_execution, default=None)


def _with_bad_inputs(rows: list[Row]) -> set[str]:
    """Operators of which an input differs, or is presumed to: it has no reference, and comes from an operator of these."""
    found: set[str] = set()
    presumed: set[str] = set()
    for row in sorted(rows, key=_by_execution):
        if row.is_input:
            if row.verdict == DIFFERS or row.producer in presumed:
                found.add(row.operator)
        elif row.operator in found and row.verdict == NOT_COMPARED and row.producer:
            presumed.add(row.producer)
    return found


def _by_execution(row: Row) -> tuple[int, int, bool]:
    """Inputs of an operator before its outputs."""
    return row.order, row.index, not row.is_input


def compare(dump: Path, reference: Path, *, graph: Path | None, step: int | None, thresholds: Thresholds) -> Comparison:
    """The comparison of a dump with its reference.  Raises: Unreadable where nothing can be compared; NoGraph."""
    chosen = choose(dump, reference, step)
    notes = list(chosen.notes)
    found = graph_in(graph) if graph is not None else None
    if found is None:
        found, more = find_graph(chosen.dump.path, chosen.dump.model, Path.cwd())
        notes += more
    folders = read_folder(chosen.dump.path), read_folder(chosen.reference.path)
    pairing = _pairing(chosen, found, folders, thresholds)
    rows = all_rows(pairing)
    _finish(rows, found)
    if found is not None:
        notes += _left_over(found, folders[0])
    for folder in folders:
        notes += [f"{folder.path / name} is left out: {reason}." for name, reason in folder.left_out]
    return Comparison(chosen, found, thresholds, rows, notes, list(pairing.unreadable.values()), pairing)


def _pairing(
    chosen: Chosen, graph: Graph | None, folders: tuple[TensorFolder, TensorFolder], thresholds: Thresholds
) -> GraphPairing | DumpPairing:
    if chosen.reference.kind != NPY:
        return DumpPairing(*folders, partial(measure, thresholds=thresholds))
    if graph is None:
        raise NoGraph(
            f"no graph file of the model {chosen.dump.model or 'of this dump'} is beside {chosen.dump.path}, above it or in the "
            "working folder: give its ge_proto_*_Build.txt or JSON with --graph"
        )
    return GraphPairing(graph, *folders, partial(fill, thresholds=thresholds))


def _finish(rows: list[Row], graph: Graph | None) -> None:
    """Verdicts that depend on other rows, and lines of code where only names are known."""
    by_key = {operator.name.replace("/", "_").replace(".", "_"): operator for operator in graph.operators} if graph else {}
    for row in rows:
        row.verdict = row.verdict or NOT_COMPARED
        operator = by_key.get(row.operator)
        if operator is not None and not row.line:
            row.line, row.order = operator.line, operator.order
    in_order = sorted(rows, key=lambda row: (row.order, row.index))
    excuse([list(group) for _, group in groupby(in_order, key=lambda row: (row.order, row.index, row.operator))])


def _left_over(graph: Graph, dump: TensorFolder) -> list[str]:
    known = {operator.name.replace("/", "_").replace(".", "_") for operator in graph.operators}
    left = [key for key in dump.files if key not in known]
    if not left:
        return []
    return [
        f"{len(left)} operators have dump files and are not in the graph file, first {left[0]}: is it the graph of this model?"
    ]


def exit_code(found: Comparison) -> int:
    """0: all agree.  1: something differs.  3: a file could not be read."""
    if found.unreadable:
        return EXIT_UNREADABLE
    return 1 if found.counts()[DIFFERS] else 0
