"""Lines of a converted file, as lines of the original."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.report.samples import SOURCE, result
from tf2npu.findings import Span, Status
from tf2npu.report.model.build import file_report
from tf2npu.report.model.changes import offsets_of
from tf2npu.report.model.report import Change, FileReport, Lines
from tf2npu.report.model.side_by_side import splice
from tf2npu.report.runs.source_map import LineOrigins


def after(file: FileReport) -> list[str]:
    lines = Lines(file.source or "")
    return Lines(
        splice(file.source or "", sorted((offsets_of(lines, c) for c in file.changes), key=lambda e: e.start))
    ).with_ends()


def test_a_line_that_was_put_in_moves_those_below_it():
    file = file_report(result())
    origins, before, converted = LineOrigins(file), SOURCE.splitlines(keepends=True), after(file)
    assert len(converted) == len(before) + 1
    for number, text in enumerate(converted, 1):
        origin = origins.of(number)
        if text in before:
            assert origin is not None and before[origin - 1] == text
    put_in = next(number for number, text in enumerate(converted, 1) if "npu_config_proto\n" in text and "import" in text)
    assert origins.of(put_in) is None and origins.near(put_in) == put_in - 1
    session = next(number for number, text in enumerate(converted, 1) if "tf.Session(config" in text)
    assert origins.near(session) == origins.of(session) == session - 1


def test_a_line_put_in_at_the_top_is_told_as_the_first_one():
    file = FileReport("a.py", Status.CONVERTED, [], [Change("NPU100", Span(1, 1, 1, 1), "import npu_bridge\n")], "x = 1\ny = 2\n")
    origins = LineOrigins(file)
    assert [origins.near(number) for number in (1, 2, 3)] == [1, 1, 2]
    assert origins.of_range(1, 3) == [1, 2]


def test_a_file_without_changes_keeps_its_lines():
    file = replace(file_report(result()), changes=[])
    assert [LineOrigins(file).near(number) for number in (1, 7)] == [1, 7]
    assert LineOrigins(file).of_range(3, 5) == [3, 4, 5]


@given(st.lists(st.tuples(st.integers(1, 8), st.text("ab\n", max_size=5)), max_size=4, unique_by=lambda one: one[0]))
def test_every_line_has_an_origin_in_the_file(changes):
    source = "".join(f"line {number}\n" for number in range(1, 9))
    made = [Change("NPU1", Span(line, 1, line, 3), new) for line, new in changes]
    file = FileReport("a.py", Status.CONVERTED, [], made, source)
    origins = LineOrigins(file)
    for number in range(1, len(after(file)) + 1):
        assert 1 <= origins.near(number) <= 8
        assert origins.of(number) in (None, origins.near(number))
