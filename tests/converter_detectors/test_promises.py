"""Each level of a finding is a promise (docs/report.md): every rule is held to it, by what its examples make it say."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

import pytest

from tests.converter.test_rule_examples import CASES, converted, full
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Finding

ADVICE = re.compile(
    r"\b(?:write|use|pass|call|take|make|keep|check|convert|give|set|add|run|build|leave|look|divide|print|start|remove|wrap|import"
    r"|ask|let|compute with|decode with|format"
    r"|shard|choose|feed|move|hand on|open it|test it|in (?:its|the) place|in 1\.15|having|average|the file stays)\b",
    re.IGNORECASE,
)
"""Words that tell a person what to do, or what to decide about."""
STOPS = re.compile(
    r"\b(?:ends here|ends there|stops? (?:here|with)|will not|does not run|refuses?|fails?|is gone|not supported)\b"
)
"""Words that say that something does not run."""
RUNS_ALL_THE_SAME = re.compile(r"it runs\b|runs as it is|copied as it is|not taken")
"""Words of a remark that names something which does not run elsewhere."""

# Level -> what a message of that level must hold, and what it must not hold without more. The table of docs/report.md in short.
PROMISES = {
    "manual": (ADVICE, None),  # a person knows what to write, or what the choice is
    "unsupported": (ADVICE, None),
    "info": (None, STOPS),  # it runs, here and there
}
# Rules about what works in one of the two places: the level, and what each message says of either.
BOTH_HALVES = {
    "NPU911": ("manual", "on the simulated device", "on an NPU"),
    "NPU924": ("unsupported", "on the simulated device", "on an NPU"),
    "NPU968": ("manual", "A simulated run ends here", "An NPU host with TensorFlow 1.15 has it"),
}


@lru_cache(maxsize=1)
def said() -> list[Finding]:
    """Findings of each rule on its own examples."""
    found: dict[tuple[str, str, str], Finding] = {}
    for case in CASES:
        rule, example = case.values
        for f in converted(example).findings:
            if f.rule == rule.id:
                found.setdefault((f.rule, f.level.value, f.message), f)
    return list(found.values())


@pytest.mark.parametrize("level", PROMISES)
def test_every_rule_keeps_what_its_level_promises(level: str) -> None:
    wanted, unwanted = PROMISES[level]
    messages = [(f.rule, f.message) for f in said() if f.level.value == level]
    assert len(messages) > 30
    assert [m for m in messages if wanted is not None and not wanted.search(m[1])] == []
    assert [m for m in messages if unwanted is not None and unwanted.search(m[1]) and not RUNS_ALL_THE_SAME.search(m[1])] == []


def test_what_works_in_one_of_the_two_places_says_both_halves() -> None:
    for rule, (level, here, there) in BOTH_HALVES.items():
        messages = [f.message for f in said() if f.rule == rule and f.level.value == level]
        assert messages and all(here in message and there in message for message in messages), rule


@lru_cache(maxsize=4)
def said_with(option: str, value: object) -> list[tuple[str, str]]:
    """Rule and message of each finding of all examples, converted with one option more."""
    found: dict[tuple[str, str], None] = {}
    for case in CASES:
        _, example = case.values
        config = replace(example.config, **{option: value})
        for f in convert_source(full(example.before), "example.py", config).findings:
            if f.level.value in PROMISES:
                found[f.rule, f.message] = None
    return list(found)


@pytest.mark.parametrize(
    ("option", "value", "advice"),
    [
        ("distributed", "tf", r"(?:convert with|convert|use) --distributed tf\b"),
        ("distributed", "horovod", r"(?:convert with|convert|use) --distributed horovod\b"),
        ("unsafe_fixes", True, r"--unsafe-fixes does it|run with --unsafe-fixes"),
    ],
)
def test_no_advice_goes_in_a_circle(option: str, value: object, advice: str) -> None:
    """A second conversion, with the option that a message names, does not give the same message again."""
    pattern = re.compile(advice, re.IGNORECASE)
    assert [one for one in said_with(option, value) if pattern.search(one[1])] == []
