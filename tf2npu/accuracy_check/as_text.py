"""The verdict of a check for a terminal: a row for each run, and under one that differs where, what and the least change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from npu_formats.documents.check_record import Failure, FirstDifference, LeastChange, Record, Run
from tf2npu.accuracy_check import sentences
from tf2npu.accuracy_check.change_files import names_by_label
from tf2npu.accuracy_check.number_format import loss_text, share_text
from tf2npu.accuracy_check.terminal_width import fitted, padded, width
from tf2npu.accuracy_check.verdicts import AGREES, DIFFERS, FAILED, names_causes, verdict_of
from tf2npu.comparison.texts import Texts
from tf2npu.report.formats.as_text import Line

MOST_LINES = 15
"""Lines of a verdict: what a reader takes in at a glance."""
COLUMNS = 100
"""Columns that a line has at most."""
_LABEL, _DETAIL = 18, 15
"""Columns of the names of rows, at least, and of those of their details."""
_MOST_LABEL = 30
_VERDICT = 38
"""Columns that a row keeps for its verdict; losses take what is left."""
_SHOWN_SOURCES = 3
"""Sources of randomness that are named; the page has all."""
_STYLES = {AGREES: "green", DIFFERS: "bold red", FAILED: "bold red"}


@dataclass
class _Block:
    """A row and what stands under it."""

    row: Line
    details: list[Line] = field(default_factory=list)


def lines(record: Record, t: Texts, *, folder: str = "", page: str = "") -> list[Line]:
    """The verdict, at most MOST_LINES lines.  folder: where the files of the least changes are.  page: the page's path."""
    head = list(_randomness(record, t))
    tail = [Line(fitted(text, COLUMNS), "bold") for text in [sentences.stopped(record, t)] if text]
    tail += [Line(fitted(page, COLUMNS))] if page else []
    return [*head, *_within(_blocks(record, t, folder), MOST_LINES - len(head) - len(tail), t), *tail]


def _within(blocks: list[_Block], most: int, t: Texts) -> list[Line]:
    """The rows with as many details as there is room for, those of the first runs before others'."""
    rows = blocks if len(blocks) <= most else blocks[: most - 1]
    left = most - len(rows) - (len(rows) < len(blocks))
    shown: list[Line] = []
    for block in rows:
        details = block.details if len(block.details) <= left else []
        left -= len(details)
        shown += [block.row, *details]
    if len(rows) < len(blocks):
        shown.append(Line(t("{} more runs are in check.json", len(blocks) - len(rows)), "dim"))
    return shown


def _randomness(record: Record, t: Texts) -> Iterator[Line]:
    """Lines on the sources of randomness, which precede all others; with them no cause is claimed."""
    for source in record.randomness[:_SHOWN_SOURCES]:
        words = (sentences.place(source.file, source.line), source.node, sentences.operator(source.op), source.why)
        yield Line(fitted(t("random: {}", "  ".join(filter(None, words))), COLUMNS), "bold yellow")
    more = len(record.randomness) - _SHOWN_SOURCES
    if more > 0:
        yield Line(t("and {} more sources of randomness", more), "bold yellow")
    if not names_causes(record):
        yield Line(t("The original is not the same in each run: no cause is named before it is."), "bold yellow")


def _blocks(record: Record, t: Texts, folder: str) -> list[_Block]:
    rows = _rows(record)
    labels = [fitted(sentences.label(record, runs, t), _MOST_LABEL) for runs in rows]
    columns = max(_LABEL, *map(width, labels))
    shown = _Losses(record, COLUMNS - columns - width(t("loss")) - 6 - _VERDICT)
    files = names_by_label(record)
    blocks = []
    for name, runs in zip(labels, rows, strict=True):
        run = runs[-1]
        text = f"{padded(name, columns)} {t('loss')}  {shown.of(run)}   "
        text += fitted(_said(record, run, t), COLUMNS - width(text))
        paths = [f"{folder}/{file}" if folder else file for file in files.get(run.label, [])]
        blocks.append(_Block(Line(text.rstrip(), _style(run)), list(_details(record, run, paths, t))))
    return blocks


def _style(run: Run) -> str:
    return "" if run.run == "A" and run.failure is None else _STYLES[verdict_of(run)]


def _rows(record: Record) -> list[list[Run]]:
    """Runs by rows: neighbours of one kind that agree, and whose losses read the same, share one. A' that agrees has none."""
    shown = [run for run in record.runs if run.run != "A'" or verdict_of(run) != AGREES]
    return [list(runs) for _, runs in itertools.groupby(shown, _kind)]


def _kind(run: Run) -> tuple[object, ...]:
    if verdict_of(run) != AGREES or run.run in ("A", "A'", "B"):
        return (run.run, run.mode)
    shown = tuple(map(loss_text, run.loss))
    return ("device" if run.run in ("C", "D") else "mode", run.mode, shown, run.agreeing, run.compared)


def _said(record: Record, run: Run, t: Texts) -> str:
    if run.run != "A" or run.failure is not None:
        return sentences.verdict(record, run, t)
    if record.self_distance is None:
        return ""
    return t("({} against itself: {})", sentences.kernels(record), share_text(record.self_distance))


class _Losses:
    """The losses of some steps in columns, the same for every run; steps of the middle are left out where room is short."""

    def __init__(self, record: Record, room: int) -> None:
        self._steps = max(len(run.loss) for run in record.runs)
        texts = {loss_text(value) for run in record.runs for value in run.loss}
        self._width = max(map(len, texts), default=1)
        fits = max(2, (room + 3) // (self._width + 3))
        self._left_out = range(0) if self._steps <= fits else range(max(1, fits - 2), self._steps - 1)

    def of(self, run: Run) -> str:
        cells = [loss_text(run.loss[n] if n < len(run.loss) else None) for n in range(self._steps) if n not in self._left_out]
        if self._left_out:
            cells.insert(self._left_out.start, "...")
        return "   ".join(cell.rjust(3 if cell == "..." else self._width) for cell in cells) or "-"


def _details(record: Record, run: Run, files: Sequence[str], t: Texts) -> Iterator[Line]:
    """The lines under a run that does not agree."""
    if run.failure is not None:
        yield from _failure(run.failure, t)
        return
    if verdict_of(run) != DIFFERS:
        return
    if run.first is not None:
        yield _detail(t("first node") if run.first.what in sentences.OF_NODES else t("first"), _node(run.first, t))
        yield _detail(t("what"), _what(run.first, run, t))
    if run.least_change is not None and names_causes(record):
        yield _detail(t("least change"), _change(run.least_change, files, t))
    elif reason := sentences.no_change(record, run, t):
        yield _detail(t("least change"), reason)


def _failure(failure: Failure, t: Texts) -> Iterator[Line]:
    at = "  ".join(filter(None, (failure.node, sentences.place(failure.file, failure.line))))
    if failure.text:
        yield _detail(t("what"), failure.text)
    if at:
        yield _detail(t("where"), at)


def _detail(name: str, text: str) -> Line:
    start = f"   {padded(name, _DETAIL)} "
    return Line(start + fitted(text, COLUMNS - width(start)))


def _room() -> int:
    """Columns of a detail's text."""
    return COLUMNS - _DETAIL - 4


def _node(first: FirstDifference, t: Texts) -> str:
    """The node, its operator and its line."""
    at = sentences.place(first.file, first.line) or t("line unknown")
    return _with_rest(first.node, f" {sentences.operator(first.op, first.dtype)}   {at}", _room())


def _with_rest(name: str, rest: str, room: int) -> str:
    """A name and what is said of it; the name gives way down to a third of the room."""
    rest = fitted(rest, room - min(width(fitted(name, room)), room // 3))
    return fitted(name, room - width(rest)) + rest


def _what(first: FirstDifference, run: Run, t: Texts) -> str:
    """The difference and the state of the inputs, in the most words that fit."""
    main = sentences.what(first, t)
    ways = [t("{}; {}", main, words) for words in sentences.inputs(first, run, t)] or [main]
    return next((way for way in ways if width(way) <= _room()), ways[-1])


def _change(change: LeastChange, files: Sequence[str], t: Texts) -> str:
    """The change, its result, and its first file; names give way where the line is too long."""
    rest = t("{}: {}", "", sentences.change_result(change, t)) + "".join(f"   {file}" for file in files[:1])
    names = sentences.names_of(change, t)
    return _with_rest(sentences.change_head(change, names, t), rest, _room())
