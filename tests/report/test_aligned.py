"""Side by side: whatever is changed, the left column is the original, the right one the output, in order."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tf2npu
from tests.report import samples
from tests.report.applied_changes import apply_changes
from tf2npu.findings import Span, Status
from tf2npu.report.html.code_table import code_html, line_html, runs
from tf2npu.report.html.highlight import highlight, highlight_ranges
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.changes import changes_by_line
from tf2npu.report.model.file_parts import n_left_out, parts_of
from tf2npu.report.model.report import Change, FileReport, Lines
from tf2npu.report.model.side_by_side import compare


@given(samples.changed_texts())
def test_columns_are_the_two_texts(case):
    text, changes = case
    comparison = compare(text, changes)
    after = apply_changes(text, changes)
    assert [r.before for r in comparison.rows if r.before] == list(range(1, len(Lines(text)) + 1))
    assert [r.after for r in comparison.rows if r.after] == list(range(1, len(Lines(after)) + 1))
    for row in comparison.rows:
        if not row.changed:
            assert comparison.before.line_text(row.before) == comparison.after.line_text(row.after)


@given(samples.changed_texts())
def test_unmarked_characters_are_common_to_both(case):
    text, changes = case
    comparison = compare(text, changes)
    left = _unmarked(comparison.before, comparison.before_marks)
    right = _unmarked(comparison.after, comparison.after_marks)
    assert left == right


def _unmarked(lines: Lines, marks) -> str:
    """The text outside the marks, line ends left out."""
    kept = []
    for number in range(1, len(lines) + 1):
        line = lines.line_text(number)
        marked = {at for low, high in marks.get(number, ()) for at in range(low, high)}
        kept += [character for at, character in enumerate(line) if at not in marked]
    return "".join(kept)


@given(samples.sources, samples.sources)
def test_changes_found_by_line_make_the_second_text(before, after):
    assert apply_changes(before, changes_by_line(before, after)) == after


@given(samples.sources)
def test_coloured_pieces_are_the_lines(text):
    lines = Lines(text)
    assert ["".join(piece for _, piece in line) for line in highlight(text)] == [
        lines.line_text(number) for number in range(1, len(lines) + 1)
    ]


SOURCES = sorted(Path(tf2npu.__file__).parent.glob("report/*/*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_lines_in_sight_have_the_colours_they_have_in_the_whole_file(path):
    lines = Lines(path.read_text())
    ranges = [(first, min(first + 6, len(lines))) for first in range(1, len(lines) + 1, 11)]
    whole = highlight(lines.text)
    assert highlight_ranges(lines, ranges) == {n: whole[n - 1] for first, last in ranges for n in range(first, last + 1)}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_inside_a_string_has_the_colour_of_the_string(end):
    texts = ["x = \"it's\"  # it's", 'y = """a', "import b", "#c", '"""; z = r"\\"', "import d", "f('\\", "if', 1)"]
    found = highlight_ranges(Lines(end.join(texts)), [(3, 3), (6, 6), (8, 8)])
    assert found[3] == [("s", "import b")]
    assert found[6][0] == ("k", "import")
    assert found[8] == highlight(end.join(texts))[7]


@given(samples.sources, st.integers(1, 9), st.integers(0, 9))
def test_coloured_pieces_of_a_range_are_its_lines(text, first, more):
    lines = Lines(text)
    last = min(first + more, len(lines))
    found = highlight_ranges(lines, [(first, last)] if first <= last else [])
    shown = {n: "".join(piece for _, piece in pieces) for n, pieces in found.items()}
    assert shown == {n: lines.line_text(n) for n in range(first, last + 1)}


def test_an_inserted_line_stands_alone():
    comparison = compare("a\nb\n", [Change("R", Span(2, 1, 2, 1), "new\n")])
    assert [(r.before, r.after, r.changed) for r in comparison.rows] == [(1, 1, False), (None, 2, True), (2, 3, False)]


def test_a_line_with_an_insertion_above_it_keeps_its_partner():
    changes = [Change("R", Span(1, 1, 1, 1), "import x\n"), Change("R", Span(1, 3, 1, 4), "X")]
    comparison = compare("s=f()\n", changes)
    assert [(r.before, r.after, r.changed) for r in comparison.rows] == [(None, 1, True), (1, 2, True)]
    assert comparison.after_marks == {1: [(0, 8)], 2: [(2, 3)]}


def test_long_unchanged_runs_are_folded_but_never_a_note():
    rows = compare("".join(f"{n}\n" for n in range(100)), [Change("R", Span(50, 1, 50, 2), "x")]).rows
    split = runs(rows, {90})
    assert [(run.is_folded, run.rows[0].before, run.rows[-1].before) for run in split] == [
        (True, 1, 46), (False, 47, 53), (True, 54, 86), (False, 87, 100)
    ]  # fmt: skip


def test_what_no_browser_could_show_is_counted_instead():
    text = "".join(f"x{n} = {n}\n" for n in range(90_000))
    file = FileReport("table.py", Status.CONVERTED, source=text, changes=[Change("R", Span(80_002, 1, 80_002, 3), "y1")])
    parts = parts_of(file)
    assert len(parts) == 2 and parts[0].first == 1 and parts[1].first <= 80_002 <= parts[1].last
    shown = [code_html(file, part, {}, catalogue("en")) for part in parts]
    assert "<ins>" in shown[1] and all(len(page) < 100_000 for page in shown)
    assert n_left_out(parts, 90_000) == 90_000 - sum(part.last - part.first + 1 for part in parts)


def test_marks_cut_through_coloured_pieces():
    html = line_html([("k", "import"), ("", " <os>")], [(3, 8)], "ins")
    assert html == "<i class=k>imp</i><ins><i class=k>ort</i></ins><ins> &lt;</ins>os&gt;"


def test_a_string_right_behind_a_word_is_a_string():
    assert highlight('print"a # b", x\n') == [[("b", "print"), ("s", '"a # b"'), ("", ", x")]]
    assert highlight("rb'a' + ur'b'\n") == [[("s", "rb'a'"), ("", " + "), ("s", "ur'b'")]]
