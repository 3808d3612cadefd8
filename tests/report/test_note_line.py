"""A finding on a call of many lines stands under the argument that it speaks of, and cuts no argument in two."""

import re

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report.html import as_html
from tf2npu.report.model.build import build
from tf2npu.report.model.report import FileReport, Report

CALL = "y = build(\n    first,\n    rate=[\n        1,\n    ],\n    name='y',\n)\n"
BEFORE = CALL[4:-1]


def line_above_note(report: Report, rule: str) -> int:
    """The line of the original above the note of a rule, on the page of the only file."""
    page = next(text for name, text in as_html.Pages(report).texts() if name.startswith("files/"))
    code = page[page.index('id="code"') :]
    note = re.search(rf'class="note [^>]*>(?:(?!class="note).)*?<code>{rule}</code>', code, re.S)
    assert note is not None
    return int(re.findall(r"<tr id=L(\d+)", code[: note.start()])[-1])


@pytest.mark.parametrize(
    ("message", "line"),
    [("Give rate one value.", 5), ("Write rate=2.", 5), ("Take name out.", 6), ("Say no more.", 7), ("Look at x.name.", 7)],
)
def test_it_stands_under_the_argument_that_the_message_names(message, line):
    finding = Finding("NPU922", Level.MANUAL, Span(1, 5, 7, 2), message, before=BEFORE)
    assert line_above_note(Report([FileReport("m.py", Status.UNCHANGED, [finding], [], CALL)]), "NPU922") == line


@pytest.mark.parametrize("before", ["def f():\n    return g()", "(" * 5000, "g(\n'", "x = 1\ny = 2", ""])
def test_what_is_no_call_has_it_under_its_first_line(before):
    text = f"{before}\n" + "pass\n" * 3
    finding = Finding("NPU922", Level.MANUAL, Span(1, 1, 2, 1), "Look at it.", before=before)
    assert line_above_note(Report([FileReport("m.py", Status.UNCHANGED, [finding], [], text)]), "NPU922") == 1


def test_a_fix_stands_under_what_it_changed():
    source = "import tensorflow as tf\ns = tf.Session(\n    '',\n    config=tf.ConfigProto(\n        a=1),\n    graph=g,\n)\n"
    report = build([convert_source(source, "m.py")])
    assert line_above_note(report, "NPU101") == 5
