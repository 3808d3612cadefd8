"""Decisions carried out in a file: the code that was written, comments where Python takes them, and what is refused."""

import ast
import json

import pytest

from tests.decisions.made import decided
from tests.report.applied_changes import apply_changes
from tf2npu.decisions import document
from tf2npu.decisions.revision import revised
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Edit, FileResult, Finding, Level, Span, Status
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Lines

TEXT = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.x(x, 1), tf.y(x)\n"


def finding(text, part, after="", rule="NPU912", level=Level.MANUAL, message="Write it in another way.", nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(part, start + 1)
    lines = Lines(text)
    span = Span(*lines.position(start), *lines.position(start + len(part)))
    return Finding(rule, level, span, message, before=part, after=after, replaces=bool(after))


def made(text, *findings, edits=(), path="m.py", encoding="utf-8"):
    after = text
    for edit in sorted(edits, key=lambda e: -e.start):
        after = after[: edit.start] + edit.new + after[edit.end :]
    status = Status.CONVERTED if edits else Status.UNCHANGED
    return FileResult(path, status, list(findings), list(edits), text.encode(encoding), after.encode(encoding))


def no_unsafe_fix(places):
    raise AssertionError(f"an unsafe fix was asked for at {places}")


def carried_out(result, choices, **words):
    return revised(result, document.load(decided(build([result]), choices, **words).encode()), no_unsafe_fix)


def levels(result):
    return [(found.rule, found.level.value) for found in sorted(result.findings, key=lambda f: f.span)]


def test_the_code_that_is_shown_is_written_beside_the_edits_of_the_converter():
    edit = Edit(TEXT.index("tf.y"), TEXT.index("tf.y") + 4, "tf.z", "NPU101")
    result = carried_out(made(TEXT, finding(TEXT, "tf.x(x, 1)", "tf.w(x)"), edits=[edit]), {"NPU912": "edit"})
    assert result.after.decode() == TEXT.replace("tf.x(x, 1)", "tf.w(x)").replace("tf.y", "tf.z")
    assert levels(result) == [("NPU912", "fixed")]
    answer = result.findings[0].answer
    assert (answer.choice, answer.who, answer.note, answer.level) == ("edit", "Ann", "measured", Level.MANUAL)
    file = build([result]).files[0]
    assert apply_changes(file.source or "", file.changes) == result.after.decode()


@pytest.mark.parametrize(
    ("after", "edits", "reason"),
    [
        ("tf.w(", (), "would not be Python"),
        ("tf.w(x)", (Edit(TEXT.index("(x, 1") + 1, TEXT.index("(x, 1") + 2, "z", "NPU101"),), "same text"),
        ("", (), "shows no code"),
    ],
)
def test_what_would_break_the_file_is_told_and_stays_work(after, edits, reason):
    before = made(TEXT, finding(TEXT, "tf.x(x, 1)", after), edits=edits)
    result = carried_out(before, {"NPU912": "edit"})
    assert result.after == before.after
    assert sorted(levels(result)) == [("NPU012", "info"), ("NPU912", "manual")]
    assert reason in next(f.message for f in result.findings if f.rule == "NPU012")


def test_one_edit_that_breaks_the_file_does_not_hold_up_another():
    result = made(TEXT, finding(TEXT, "tf.x(x, 1)", "tf.w(x)"), finding(TEXT, "tf.y(x)", "tf.w("))
    result = carried_out(result, {"NPU912": "edit"})
    assert result.after.decode() == TEXT.replace("tf.x(x, 1)", "tf.w(x)")
    assert sorted(levels(result)) == [("NPU012", "info"), ("NPU912", "fixed"), ("NPU912", "manual")]


def test_a_rule_is_switched_off_by_a_comment_with_the_reason():
    result = carried_out(made(TEXT, finding(TEXT, "tf.x(x, 1)")), {"NPU912": "suppress"})
    assert result.after.decode() == TEXT.replace("tf.y(x)\n", "tf.y(x)  # tf2npu: ignore[NPU912] Ann: measured\n")
    assert levels(result) == [("NPU912", "skipped")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = tf.x(a,  # one\n    b)\n", 1),
        ("x = 1 + \\\n    tf.x(a)\n", 2),
        ('x = tf.x("""\n# no\n""")\n', 3),
        ('x = tf.x(f"""\n{1 +\n2}""")\n', 3),
        ("x = tf.x(a)\r\n", 1),
        ("x = tf.x(a)", 1),
        ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nx = tf.x(a)\n", 3),
    ],
)
def test_a_comment_stands_where_python_takes_one(text, line):
    call = text[text.index("tf.x") :].rstrip()
    result = carried_out(made(text, finding(text, call)), {"NPU912": "suppress"})
    lines = result.after.decode().splitlines()
    assert [number for number, one in enumerate(lines, 1) if "# tf2npu: ignore[NPU912]" in one] == [line]
    assert ast.dump(ast.parse(result.after)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    "note",
    [
        "two\nlines",
        "# tf2npu: off",
        "\u202egnp",
        "x" * 1999,
        '"""',
        "\\",
        "é中",
        "\r\x0b\x0c\x1c\u2028import os",
        "# coding: rot13",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252"])
def test_no_note_breaks_a_file(note, encoding):
    text = f"# -*- coding: {encoding} -*-\nx = tf.x('é')\ny = 1\n"
    before = made(text, finding(text, "tf.x('é')"), encoding=encoding)
    result = carried_out(before, {"NPU912": "suppress"}, note=note)
    assert ast.dump(ast.parse(result.after)) == ast.dump(ast.parse(before.before))
    assert len(result.after.decode(encoding).split("\n")) == len(text.split("\n"))
    assert max(map(len, result.after.decode(encoding).split("\n"))) < 1_300


def test_rules_of_one_line_share_a_comment():
    text = "x = tf.x(tf.y(a))\n"
    result = made(text, finding(text, "tf.x(tf.y(a))"), finding(text, "tf.y(a)", rule="NPU910"))
    result = carried_out(result, {"NPU912": "suppress", "NPU910": "suppress"})
    assert result.after.decode() == "x = tf.x(tf.y(a))  # tf2npu: ignore[NPU910,NPU912] Ann: measured\n"


def test_all_places_of_one_finding_get_a_comment():
    text = "a = tf.x(1)\nb = tf.x(1)\nc = tf.x(1)\n"
    told = "Write it in another way. The file has 3 such places; the others: 2, 3."
    result = carried_out(made(text, finding(text, "tf.x(1)", message=told)), {"NPU912": "suppress"})
    assert result.after.decode().count("# tf2npu: ignore[NPU912]") == 3


def test_a_finding_that_does_not_name_all_of_its_places_is_not_switched_off():
    text = "a = tf.x(1)\nb = tf.x(1)\n"
    told = "Write it in another way. The file has 30 such places; the others: 2, ...."
    before = made(text, finding(text, "tf.x(1)", message=told.replace(", ....", ", ...")))
    result = carried_out(before, {"NPU912": "suppress"})
    assert result.after == before.after
    assert "does not name all of its places" in next(f.message for f in result.findings if f.rule == "NPU012")


def test_a_decision_is_for_the_code_and_the_sentence_that_it_was_made_for():
    held = document.load(decided(build([made(TEXT, finding(TEXT, "tf.x(x, 1)"))]), {"NPU912": "suppress"}).encode())
    moved = "# more\n\n" + TEXT
    assert b"# tf2npu: ignore" in revised(made(moved, finding(moved, "tf.x(x, 1)")), held, no_unsafe_fix).after
    other = TEXT.replace("tf.x(x, 1)", "tf.x(x, 2)")
    assert b"# tf2npu: ignore" not in revised(made(other, finding(other, "tf.x(x, 2)")), held, no_unsafe_fix).after
    said = made(TEXT, finding(TEXT, "tf.x(x, 1)", message="Something else."))
    assert b"# tf2npu: ignore" not in revised(said, held, no_unsafe_fix).after


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells],
                       "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)  # fmt: skip


def test_notebooks_keep_what_is_not_decided():
    text = notebook("import tensorflow as tf\n", "%matplotlib inline\ny = tf.py_func(f, [x], tf.float32)", "s = tf.Session()\n")
    before = convert_source(text, "m.ipynb")
    result = carried_out(before, {"NPU912": "suppress"})
    cells = ["".join(cell["source"]) for cell in json.loads(result.after)["cells"]]
    assert cells[1] == "%matplotlib inline\ny = tf.py_func(f, [x], tf.float32)  # tf2npu: ignore[NPU912] Ann: measured"
    assert cells[2] == "".join(json.loads(before.after)["cells"][2]["source"])
    assert convert_source(result.after, "m.ipynb").after == result.after
    assert [f.level for f in result.findings if f.rule == "NPU912"] == [Level.SKIPPED]


def test_code_is_written_in_cells():
    text = notebook("a = 1\n", "y = tf.x(a)\n")
    code = {"before": "tf.x(a)", "after": "tf.w(a)", "replaces": True}
    found = Finding("NPU912", Level.MANUAL, Span(1, 5, 1, 12), "Write it.", cell=1, **code)
    result = carried_out(made(text, found, path="m.ipynb"), {"NPU912": "edit"})
    assert result.after.decode() == text.replace("tf.x(a)", "tf.w(a)")


def test_findings_of_no_line_are_not_switched_off():
    before = made(TEXT, Finding("NPU008", Level.MANUAL, Span(1, 1, 1, 1), "Split it."))
    result = carried_out(before, {"NPU008": "suppress"})
    assert result.after == before.after
    assert "no comment switches this rule off" in next(f.message for f in result.findings if f.rule == "NPU012")
