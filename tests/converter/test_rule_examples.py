"""Every example of every rule is converted, compared, and converted again; rules are described completely."""

from __future__ import annotations

import ast

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level, Status
from tf2npu.rules import Example, Rule, all_rules, rule_parts

PREFIX = "import tensorflow as tf\n"
CASES = [
    pytest.param(part, example, id=f"{part.id}-{part.on}-{number}")
    for part in rule_parts()
    for number, example in enumerate(part.examples)
]
ENGINE_FINDINGS = ("NPU900", "NPU901", "NPU902")


def has_import(text: str) -> bool:
    return any(line.startswith(("import ", "from ")) for line in text.splitlines())


def full(text: str) -> str:
    """The example as a file; short ones stand below the usual import."""
    return text if has_import(text) else PREFIX + text


def without_npu_imports(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(("from npu_bridge", "import npu_bridge"))]
    return "\n".join(lines)


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example_converts_as_documented(rule: Rule, example: Example) -> None:
    source = full(example.before)
    result = convert_source(source, "example.py", example.config)
    text = result.after.decode()
    if example.before == example.after:
        assert text == source or without_npu_imports(text) == without_npu_imports(source)
    elif (has_import(example.after) and has_import(example.before)) or "npu_bridge" in example.after:
        assert text.rstrip("\n") == example.after.rstrip("\n")
    else:
        assert without_npu_imports(text) == without_npu_imports(full_after(example.after))


def full_after(text: str) -> str:
    return PREFIX + text


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example_converted_twice_changes_nothing_more(rule: Rule, example: Example) -> None:
    once = convert_source(full(example.before), "example.py", example.config)
    twice = convert_source(once.after, "example.py", example.config)
    assert twice.after == once.after
    assert twice.status is not Status.CONVERTED


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example_reports_what_it_says(rule: Rule, example: Example) -> None:
    result = convert_source(full(example.before), "example.py", example.config)
    levels = {f.level for f in result.findings if f.rule == rule.id}
    if example.level:
        assert Level(example.level) in levels
    elif example.before != example.after:
        assert Level.FIXED in levels or Level.INFO in levels


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example_output_parses(rule: Rule, example: Example) -> None:
    result = convert_source(full(example.before), "example.py", example.config)
    if result.status is not Status.FAILED:
        ast.parse(result.after.decode())


@pytest.mark.parametrize("rule", all_rules(), ids=lambda r: r.id)
def test_rule_is_described(rule: Rule) -> None:
    assert rule.title and rule.source
    assert rule.what.endswith(".") and rule.why.endswith(".")
    assert rule.id.startswith("NPU") and len(rule.id) == 6


@pytest.mark.parametrize("rule", [r for r in all_rules() if r.id not in ENGINE_FINDINGS], ids=lambda r: r.id)
def test_rule_shows_what_stays_unchanged(rule: Rule) -> None:
    same = [e for e in rule.examples if e.before == e.after]
    assert rule.examples and same
    assert len(same) / len(rule.examples) >= 0.3


def test_rules_are_sorted_and_unique() -> None:
    ids = [rule.id for rule in all_rules()]
    assert ids == sorted(set(ids))
