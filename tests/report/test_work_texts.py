"""Texts that ask a person for something say what to do, why, and how to tell that it is done."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from functools import lru_cache

import pytest

from npu_formats.pytorch.cuda_names import cuda_names
from tests.converter.test_rule_examples import CASES, converted
from tests.converter_detectors.test_promises import ADVICE
from tests.report.message_templates import RULES, written_in
from tests.report.test_sarif import VALIDATOR
from tf2npu.engine.convert_file import convert_source
from tf2npu.file_findings import FILE_FINDINGS, UNREADABLE
from tf2npu.findings import Finding, Level
from tf2npu.report.formats import as_markdown, as_sarif, rule_list
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.build import build
from tf2npu.rules import Rule, rule_parts
from tf2npu.rules.pytorch.facts.cuda_libraries import CUDA_LIBRARIES

WORK = ("manual", "unsupported")
PLACEHOLDER = re.compile(r"^\W*(?:\{\}\W*)+$")
"""A template that is put together from texts which stand elsewhere, each of which is looked at there."""
OF_A_LIST = ": {}."
"""The end of a template whose advice stands in a list, by the name that the template is about."""
FILE_IDS_WITH_WORK = {"NPU001", "NPU004", "NPU005", "NPU006", "NPU008", "NPU010", "NPT601"}
"""Those that docs/report.md lists with the level manual."""
BATCH = "import tensorflow as tf\nx = tf.placeholder(tf.float64, [2])\n"


@lru_cache(maxsize=1)
def parts_that_ask() -> dict[tuple[str, str], Rule]:
    """The parts of which an example or the code itself asks a person for something."""
    named = {(part.id, part.name): part for part in rule_parts()}
    own = {part.id: part for part in rule_parts()}
    found = {key: part for key, part in named.items() if re.search(r"\.(?:manual|unsupported)\(", inspect.getsource(part.check))}
    for case in CASES:
        rule, example = case.values
        for finding in converted(example).findings:
            if finding.rule == rule.id and finding.level.value in WORK:
                part = named.get((finding.rule, finding.part), own[finding.rule])
                found[part.id, part.name] = part
    return found


def templates_of_work() -> Iterator[tuple[str, str]]:
    """The template of each message that a rule hands to `manual` or `unsupported` as it stands there, and its place."""
    for path in RULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WORK and node.args:
                for text in written_in(node.args[0]):
                    yield text, f"{path.name}:{node.lineno}"


def test_every_part_that_asks_for_something_says_why_and_how_to_tell_that_it_is_done() -> None:
    parts = parts_that_ask()
    assert len(parts) > 90
    assert [key for key, part in parts.items() if not part.why.endswith(".") or not part.done_when.endswith(".")] == []


def test_so_do_findings_about_whole_files() -> None:
    told = {note.id: note for note in FILE_FINDINGS if note.done_when}
    assert set(told) == FILE_IDS_WITH_WORK
    assert all(note.why.endswith(".") and note.done_when.endswith(".") for note in told.values())


def test_every_template_of_work_has_an_action() -> None:
    found = [(text, place) for text, place in templates_of_work() if not (PLACEHOLDER.match(text) or text.endswith(OF_A_LIST))]
    assert len(found) > 90
    assert [(text, place) for text, place in found if not (ADVICE.search(text) or "pad it" in text)] == []


def test_every_advice_of_a_list_has_an_action() -> None:
    libraries = [library.instead for library in CUDA_LIBRARIES.values()]
    names = [name.advice for name in cuda_names().values() if name.advice]
    assert len(libraries) > 10 and len(names) >= 50
    assert [text for text in {*libraries, *names} if not ADVICE.search(text)] == []


def test_no_way_to_tell_is_that_the_tool_is_silent_alone() -> None:
    """A finding that is gone may have been switched off: what is looked at is the program, a run, or a file."""
    for part in parts_that_ask().values():
        assert not re.search(r"tells no NPU|has no finding|no NPU\d", part.done_when), part.id


def test_every_way_to_tell_has_a_chinese_text() -> None:
    texts = catalogue("zh")
    said = {part.done_when for part in rule_parts()} | {note.done_when for note in FILE_FINDINGS}
    for text in said - {""}:
        chinese = texts.text(f"Done when: {text}")
        assert chinese.startswith("完成的标志：") and text not in chinese, text


@pytest.fixture(scope="module")
def finding() -> Finding:
    found = [one for one in convert_source(BATCH, "train.py").findings if one.level is Level.MANUAL]
    return next(one for one in found if one.rule == "NPU920")


def test_markdown_tells_it_below_the_reason(finding: Finding) -> None:
    text = as_markdown.render(build([convert_source(BATCH, "train.py")]))
    part = next(part for part in rule_parts() if (part.id, part.name) == (finding.rule, finding.part))
    assert text.index(part.why) < text.index("Done when: " + part.done_when.replace("`", "")[:12])


def test_sarif_tells_it_in_the_help_of_the_rule(finding: Finding) -> None:
    log = json.loads(as_sarif.render(build([convert_source(BATCH, "train.py")])))
    VALIDATOR.validate(log)
    rule = next(rule for rule in log["runs"][0]["tool"]["driver"]["rules"] if rule["id"] == finding.rule)
    part = next(part for part in rule_parts() if (part.id, part.name) == (finding.rule, finding.part))
    assert f"Done when: {part.done_when}" in rule["help"]["markdown"]


@pytest.mark.parametrize("form", ["text", "md"])
def test_the_command_tells_it(form: str) -> None:
    for rule_id, sentence in ((UNREADABLE.id, UNREADABLE.done_when), ("NPU954", "finalize() before the loop")):
        assert sentence in rule_list.render(rule_list.entries(rule_id), form, in_full=True)
