"""A finding names what it edits: each argument of a call that comes, goes or changes stands in a sentence about that example."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from tests.converter.test_rule_examples import CASES, converted
from tf2npu.findings import Level

OF_WRAPPERS = {
    "config",
    "run_config",
    "session_config",
    "graph_options",
    "hooks_list",
    "callbacks_list",
    "device_name_or_function",
}
"""Parameters that hold all that the call is about, or what a wrapper wraps: the sentence says what becomes of that."""


def arguments(text: str) -> Counter[tuple[str, str]]:
    """Name and value of each argument that is given by name."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return Counter((word.arg, ast.unparse(word.value)) for call in calls for word in call.keywords if word.arg)


def same_callee(before: str, after: str) -> bool:
    """Whether both are a call of one function: arguments of another one have names of their own."""
    try:
        calls = [ast.parse(text.strip(), mode="eval").body for text in (before, after)]
    except SyntaxError:
        return False
    return all(isinstance(call, ast.Call) for call in calls) and len({ast.unparse(call.func) for call in calls}) == 1


def edited(before: str, after: str) -> set[str]:
    was, became = arguments(before), arguments(after)
    return {name for name, _ in ((was - became) + (became - was))} - OF_WRAPPERS


def unnamed() -> Iterator[tuple[str, str, str]]:
    """Rule, argument and example of edits that no sentence names."""
    for case in CASES:
        rule, example = case.values
        findings = converted(example).findings
        said = " ".join(f.message for f in findings)
        for f in findings:
            if f.rule == rule.id and f.level is Level.FIXED and same_callee(f.before, f.after):
                yield from ((f.rule, name, example.before) for name in sorted(edited(f.before, f.after)) if name not in said)


def test_each_argument_that_an_edit_touches_is_named() -> None:
    assert sorted(set(unnamed())) == []
    assert (
        same_callee("f(x=1)", "f(x=2)") and not same_callee("f(x=1)", "g(x=1)") and edited("f(x=1)", "f(x=2, y=3)") == {"x", "y"}
    )
