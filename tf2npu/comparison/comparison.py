"""One comparison from its folders to its rows: what was taken, every row, and where the difference begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path

from tf2npu.comparison.dump_pairing import DumpPairing
from tf2npu.comparison.evaluation import fill, measure
from tf2npu.comparison.graph.operators import Graph
from tf2npu.comparison.graph.reference_nodes import ReferenceNode, nodes_beside
from tf2npu.comparison.graph.search import find_graph, graph_in
from tf2npu.comparison.graph_pairing import GraphPairing
from tf2npu.comparison.metrics import NOT_COMPUTED
from tf2npu.comparison.origin import Origin, origin_of
from tf2npu.comparison.process_pool import all_rows
from tf2npu.comparison.result_table import Columns
from tf2npu.comparison.rounding import excuse
from tf2npu.comparison.rows import Row
from tf2npu.comparison.step_folders import Chosen, choose
from tf2npu.comparison.tensors.folder import NPY, TensorFolder, key_of, read_folder
from tf2npu.comparison.tensors.libraries import EXIT_UNREADABLE
from tf2npu.comparison.unreadable import Unreadable
from tf2npu.comparison.verdicts import DIFFERS, NOT_COMPARED, Thresholds


class NoGraph(Exception):
    """There is no graph file, and without one the tensors of the reference cannot be told; the text says what to do."""


class NothingCompared(Exception):
    """Not one tensor has a partner; the text says what to look at."""


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

    @cached_property
    def origin(self) -> Origin | None:
        """The origin of the difference; None where nothing differs."""
        return origin_of(self.rows, self.graph)

    def first_difference(self) -> Row | None:
        """The row in which the difference is seen first."""
        return None if self.origin is None else self.origin.row


def compare(dump: Path, reference: Path, *, graph: Path | None, step: int | None, thresholds: Thresholds) -> Comparison:
    """The comparison of a dump with its reference.  Raises: Unreadable, NoStep, NoGraph, NothingCompared."""
    chosen = choose(dump, reference, step)
    notes = list(chosen.notes)
    found = graph_in(graph) if graph is not None else None
    if found is None:
        found, more = find_graph(chosen.dump.path, chosen.dump.model, Path.cwd())
        notes += more
    folders = read_folder(chosen.dump.path), read_folder(chosen.reference.path)
    pairing = _pairing(chosen, found, folders, thresholds, notes)
    rows = all_rows(pairing)
    _finish(rows, found)
    if found is not None:
        notes += _left_over(found, folders[0])
    for folder in folders:
        if folder.n_statistics:
            notes.append(f"{folder.n_statistics} files in {folder.path} are statistics (dump_data=stats), which hold no tensors.")
        notes += [f"{folder.path / name} is left out: {reason}." for name, reason in folder.left_out]
    made = Comparison(chosen, found, thresholds, rows, notes, list(pairing.unreadable.values()), pairing)
    _check_coverage(made)
    return made


def _check_coverage(made: Comparison) -> None:
    """Note where hardly a tensor has a partner.  Raises: NothingCompared where none has."""
    outputs = [row for row in made.rows if row.tensor != NOT_COMPUTED and not row.is_input]
    n_without = sum(row.verdict == NOT_COMPARED for row in outputs)
    is_empty = all(row.verdict == NOT_COMPARED for row in made.rows)
    question = "is it the reference of this graph?"
    if is_empty and not made.unreadable:
        reasons = " ".join(made.notes)
        raise NothingCompared(
            f"no tensor of {made.chosen.dump.path} has a partner in {made.chosen.reference.path}: {question} {reasons}".rstrip()
        )
    if 2 * n_without > len(outputs):
        made.notes.insert(0, f"Only {len(outputs) - n_without} of {len(outputs)} outputs have a partner: {question}")


def _pairing(
    chosen: Chosen,
    graph: Graph | None,
    folders: tuple[TensorFolder, TensorFolder],
    thresholds: Thresholds,
    notes: list[str],
) -> GraphPairing | DumpPairing:
    if chosen.reference.kind != NPY:
        return DumpPairing(*folders, partial(measure, thresholds=thresholds))
    if graph is None:
        raise NoGraph(
            f"no graph file of the model {chosen.dump.model or 'of this dump'} is beside {chosen.dump.path}, above it or in the "
            "working folder: give its ge_proto_*_Build.txt or JSON with --graph"
        )
    return GraphPairing(graph, *folders, partial(fill, thresholds=thresholds), _nodes(chosen.reference.path, notes))


def _nodes(reference: Path, notes: list[str]) -> Mapping[str, ReferenceNode]:
    """The nodes of the reference's graph; none, with a note, where the list is damaged: names alone tell pairs then."""
    try:
        return nodes_beside(reference)
    except Unreadable as error:
        notes.append(f"{error}; tensors are paired by their names alone.")
        return {}


def _finish(rows: list[Row], graph: Graph | None) -> None:
    """Verdicts that depend on other rows, and lines of code where only names are known."""
    by_key = {key_of(operator.name): operator for operator in graph.operators} if graph else {}
    for row in rows:
        row.verdict = row.verdict or NOT_COMPARED
        operator = by_key.get(row.operator)
        if operator is not None and not row.line:
            row.line, row.order = operator.line, operator.order
    in_order = sorted(rows, key=lambda row: (row.order, row.index))
    excuse([list(group) for _, group in groupby(in_order, key=lambda row: (row.order, row.index, row.operator))])


def _left_over(graph: Graph, dump: TensorFolder) -> list[str]:
    known = {key_of(operator.name) for operator in graph.operators}
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
