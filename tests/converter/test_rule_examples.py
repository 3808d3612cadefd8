"""Every example of every rule is converted, compared, and converted again; rules are described completely."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable

import pytest

from tests.one_item import together
from tf2npu.config import RULE_LETTERS
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Level, Status
from tf2npu.rules import Example, Rule, all_rules, rule_parts

pytestmark = pytest.mark.each_python

PREFIX = "import tensorflow as tf\n"
CASES = [
    pytest.param(part, example, id=f"{part.id}-{part.on}-{number}")
    for part in rule_parts()
    for number, example in enumerate(part.examples)
]
_NPU_LINES = ("from npu_bridge", "import npu_bridge", "import npu_device", "npu.open().as_default()")
ENGINE_FINDINGS = ("NPU900", "NPU901", "NPU902")


def has_import(text: str) -> bool:
    return any(line.startswith(("import ", "from ")) for line in text.splitlines())


def full(text: str) -> str:
    """The example as a file; short ones stand below the usual import."""
    return text if has_import(text) else PREFIX + text


@functools.cache
def converted(example: Example) -> FileResult:
    """The example's conversion, made once in a process for all tests that look at it."""
    return convert_source(full(example.before), "example.py", example.config)


def without_npu_imports(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(_NPU_LINES)]
    return "\n".join(lines)


def is_as_documented(rule: Rule, example: Example) -> None:
    source, result = full(example.before), converted(example)
    text = result.after.decode()
    if example.before == example.after:
        assert text == source or without_npu_imports(text) == without_npu_imports(source)
    elif (has_import(example.after) and has_import(example.before)) or "npu_bridge" in example.after:
        assert text.rstrip("\n") == example.after.rstrip("\n")
    else:
        assert without_npu_imports(text) == without_npu_imports(full_after(example.after))


def full_after(text: str) -> str:
    return PREFIX + text


def stays_when_it_is_converted_again(rule: Rule, example: Example) -> None:
    once = converted(example)
    twice = convert_source(once.after, "example.py", example.config)
    assert twice.after == once.after
    assert twice.status is not Status.CONVERTED


def reports_what_it_says(rule: Rule, example: Example) -> None:
    result = converted(example)
    levels = {f.level for f in result.findings if f.rule == rule.id}
    if example.level:
        assert Level(example.level) in levels
    elif example.before != example.after:
        assert Level.FIXED in levels or Level.INFO in levels


def output_parses(rule: Rule, example: Example) -> None:
    result = converted(example)
    if result.status is not Status.FAILED:
        ast.parse(result.after.decode())


PROMISES = (is_as_documented, stays_when_it_is_converted_again, reports_what_it_says, output_parses)
PROMISED = [pytest.param(promise, *case.values, id=f"{case.id} {promise.__name__}") for case in CASES for promise in PROMISES]


@together("promise, rule, example", PROMISED, by=lambda promise, rule, example: rule.id)
def test_an_example_keeps_its_promises(promise: Callable[[Rule, Example], None], rule: Rule, example: Example) -> None:
    promise(rule, example)


@together("rule", all_rules(), lambda rule: rule.id)
def test_rule_is_described(rule: Rule) -> None:
    assert rule.title and rule.source
    assert rule.what.endswith(".") and rule.why.endswith(".")
    assert re.fullmatch(rf"({'|'.join(RULE_LETTERS)})\d{{3}}", rule.id), f"an id has letters of {RULE_LETTERS} and three digits"


@together("rule", [rule for rule in all_rules() if rule.id not in ENGINE_FINDINGS], lambda rule: rule.id)
def test_rule_shows_what_stays_unchanged(rule: Rule) -> None:
    same = [e for e in rule.examples if e.before == e.after]
    assert rule.examples and same
    assert len(same) / len(rule.examples) >= 0.3


def test_rules_are_sorted_and_unique() -> None:
    ids = [rule.id for rule in all_rules()]
    assert ids == sorted(set(ids))
