"""`tf2npu api` says what to write, and shows no object as Python does."""

from __future__ import annotations

import ast
import re

import pytest

from tf2npu.api_support.table import signatures, table
from tf2npu.commands import api_lookup
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Verdict

REPR = re.compile(r"<\w[^<>]*(?: object|function|class '|\.<locals>|: '?\w+'?>)")


def test_no_signature_shows_an_object_as_python_does():
    odd = {name: text for name, text in signatures().items() if REPR.search(api_lookup.without_reprs(text))}
    assert odd == {}
    for name, text in signatures().items():
        if text != "(...)":  # of a built-in method Python tells none
            ast.parse(f"def f{api_lookup.without_reprs(text)}: pass", name)


@pytest.mark.parametrize(
    "given, expected",
    [
        ("(a=<function relu at 0x7f00>)", "(a=relu)"),
        ("(a=<object object at 0x7f00>, b=1)", "(a=..., b=1)"),
        ("(a=<function make.<locals>._inner at 0x1>)", "(a=make(...))"),
        ("(a=<function <lambda> at 0x1>)", "(a=...)"),
        ("(a=<built-in function print>)", "(a=print)"),
        ("(a=<class 'x.y.Zed'>)", "(a=Zed)"),
        ("(a=<Kind.NONE: 'none'>)", "(a=Kind.NONE)"),
        ("(a='<UNK>', b='x < y')", "(a='<UNK>', b='x < y')"),
    ],
)
def test_reprs(given, expected):
    assert api_lookup.without_reprs(given) == expected


def with_example():
    return [(api, found) for api in table() if api.rule and (found := api_lookup._example(table(), api)) is not None]


def test_what_is_said_to_be_written_is_what_the_converter_writes():
    found = with_example()
    assert len(found) >= 60
    for api, example in found:
        if api.verdict is Verdict.CONVERTED and not example.write:
            text = f"import tensorflow as tf\n{example.before}\n" if "import" not in example.before else example.before
            result = convert_source(text, config=example.config)
            assert any(finding.rule == api.rule for finding in result.findings), api.name


def test_a_person_reads_it(capsys):
    text = api_lookup.render(table(), api_lookup.entries(table(), "tf.py_func"), "text")
    assert "  write:\n    - y = tf.py_func(" in text and "\n    + " in text
    assert '"write": {' in api_lookup.render(table(), api_lookup.entries(table(), "tf.Session"), "json")
    assert "write:" not in api_lookup.render(table(), api_lookup.entries(table(), "tf.float32"), "text")
