"""Every text of a check is there in Chinese, with its slots, and a Chinese verdict has no English words but names."""

from __future__ import annotations

import html
import re

import pytest

from tests.accuracy_check import templates
from tests.accuracy_check.samples import SAMPLES
from tf2npu.accuracy_check import as_text, page
from tf2npu.accuracy_check.texts import texts

NAMES = {
    "TensorFlow", "CPU", "NaN", "float", "fp", "bf", "Infinity", "tf", "npu", "check", "json", "html", "cfg", "budget", "ignore",
    "model", "py", "train", "encoder", "scores", "BatchMatMulV", "Ascend", "loss", "customize", "dtypes", "fusion", "switch",
    "NPU", "BatchNormFusion", "random", "uniform", "RandomUniform", "it", "is", "not", "seeded", "InvalidArgumentError", "In",
    "and", "differ", "dense", "MatMul", "layer", "force", "allow", "mix", "precision", "dump", "reference",
}  # fmt: skip
"""Names of programs, files, types and options, and what the sample's own script says."""


def test_every_text_has_one_in_chinese():
    assert len(templates.templates()) >= 110
    assert templates.missing() == []


def test_the_script_asks_for_no_other_text():
    assert templates.script_calls() == set(page.SCRIPT_TEXTS)


def test_no_slot_is_lost():
    for english, chinese in templates.read().items():
        slots = re.findall(r"\{(\d*)\}", chinese)
        numbers = sorted(int(slot) for slot in slots) if all(slots) else list(range(len(slots)))
        assert numbers == list(range(english.count("{}"))), english


def english_words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]{2,}", text)) - NAMES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_chinese_verdict_has_no_english_words_but_names(name):
    lines = as_text.lines(SAMPLES[name], texts("zh"), folder="check", page="check/check.html")
    assert english_words("\n".join(line.text for line in lines)) == set()
    body = page.page(SAMPLES[name], texts("zh")).partition("<body>")[2].partition("<script")[0]
    assert english_words(html.unescape(re.sub(r"<[^>]*>", " ", body))) == set()
