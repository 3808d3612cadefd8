"""Every rule is described completely; what it tells to write is code that it has nothing more to say to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.one_item import together
from tf2npu.engine.convert_file import convert_source
from tf2npu.rules import Example, Rule, all_rules
from tf2npu.rules.run_findings import OF_RUNS

RULES_PAGE = Path(__file__).parents[2] / "docs" / "generated" / "rules.md"
WRITTEN = [pytest.param(rule, example, id=rule.id) for rule in all_rules() for example in rule.examples if example.write]
# What the converter says about files and comments: there is no code to write in their place.
ABOUT_FILES = ("NPU900", "NPU901", "NPU902", "NPU903", "NPU904", "NPU905", "NPU992", "NPM001")

NOT_VERIFIED = "NPT905"
"""The rule about operators of which nobody knows whether a chip takes them: there may be nothing to write."""


def says_what_and_why_and_where_it_is_written(rule: Rule) -> None:
    assert rule.what.endswith(".") and rule.why.endswith(".")
    assert rule.title and len(rule.source) > 8


def shows_code_before_and_after(rule: Rule) -> None:
    assert rule.id in (*ABOUT_FILES, NOT_VERIFIED) or (rule.before and rule.after and rule.before != rule.after)


def shows_two_examples_of_what_stays(rule: Rule) -> None:
    n_wanted = 1 if rule.id.startswith(OF_RUNS) else 2  # no conversion reports them, so that any code stays
    assert len({(e.before, e.config) for e in rule.examples if e.before == e.after}) >= n_wanted


PROMISES = (
    says_what_and_why_and_where_it_is_written,
    shows_code_before_and_after,
    shows_two_examples_of_what_stays,
)
PROMISED = [pytest.param(promise, rule, id=f"{rule.id} {promise.__name__}") for rule in all_rules() for promise in PROMISES]


@together("promise, rule", PROMISED, by=lambda promise, rule: rule.id)
def test_a_rule_is_described(promise: Callable[[Rule], None], rule: Rule) -> None:
    promise(rule)


@together("rule, example", WRITTEN, by=lambda rule, example: rule.id)
def test_the_rule_has_nothing_to_say_to_what_it_tells_to_write(rule: Rule, example: Example) -> None:
    assert example.level or rule.id.startswith(OF_RUNS), "only what is reported has something to write"
    code = example.write if "import " in example.write else f"import tensorflow as tf\n{example.write}"
    findings = convert_source(code, "m.py", example.config).findings
    assert [f.message for f in findings if f.rule == rule.id] == []


def test_the_command_prints_the_generated_page() -> None:
    code = "import sys; from tf2npu.cli import main; sys.argv[:] = ['tf2npu', 'rules', '--format', 'md']; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == RULES_PAGE.read_text(encoding="utf-8")
