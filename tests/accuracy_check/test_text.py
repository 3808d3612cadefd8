"""Text on a terminal: golden texts in both languages, at most fifteen lines of a hundred columns, nothing it would obey."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from rich.cells import cell_len

from npu_formats.escape import ODD
from tests.accuracy_check import samples
from tests.accuracy_check.samples import MIX, SAMPLES
from tf2npu.accuracy_check import as_text, figures
from tf2npu.accuracy_check.columns import fitted
from tf2npu.accuracy_check.texts import texts
from tf2npu.report.formats.as_text import show

GOLDEN = Path(__file__).parent / "golden"


def shown(found, language: str = "en") -> str:
    stream = io.StringIO()
    show(as_text.lines(found, texts(language), folder="check", page="check/check.html"), stream)
    return stream.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_is_the_golden_one(request, name, language):
    path, text = GOLDEN / f"{name}.{language}.txt", shown(SAMPLES[name], language)
    if request.config.getoption("--regen"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "`pytest --regen` writes it; look at the difference first"


def test_the_documentation_shows_what_is_said():
    documentation = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert "".join(shown(SAMPLES["precision"]).splitlines(keepends=True)[:-1]) in documentation


def fits(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) <= 15
    assert [line for line in lines if cell_len(line) > 100] == []
    assert ODD.search(text.replace("\n", "")) is None


@given(samples.records)
def test_any_verdict_fits_a_screen(found):
    for language in ("en", "zh"):
        fits(shown(found, language))


def test_hostile_names_are_shown_as_what_they_are():
    for found in (samples.hostile(), samples.hostile_and_random()):
        fits(shown(found))
        assert "<U+202E>" in shown(found)


def test_long_names_keep_their_ends_and_the_line():
    node = "encoder/" + "attention/" * 5000 + "scores"
    first = {**samples.FIRST, "node": node}
    found = samples.record([*samples.UP_TO_D, samples.differing("E", MIX, "precision") | {"first": first}])
    (line,) = [line for line in shown(found).splitlines() if "first node" in line]
    assert re.search(r"encoder/attention.*\.\.\..*scores \(BatchMatMulV2, float16\)   model\.py:88", line)


def test_many_runs_fit_and_those_left_out_are_counted():
    runs = [*samples.UP_TO_D, *(samples.differing("E", f"mode_{n}", "precision") for n in range(20))]
    text = shown(samples.record(runs))
    fits(text)
    assert "10 more runs are in check.json" in text and text.count("mode_") == 10


def test_the_first_difference_keeps_its_lines():
    text = shown(SAMPLES["two_modes"])
    assert text.count("first node") == 2 and text.count("differs by 19 %") == 3


def test_only_runs_that_read_the_same_share_a_row():
    other = samples.agreeing("D") | {"loss": [2.3027, 1.9871, 1.7714]}
    assert "C, D" not in shown(samples.record([*samples.CLEAN[:4], other]))
    assert "C, D" in shown(samples.record(samples.CLEAN[:5]))


def test_no_cause_is_claimed_where_runs_of_the_original_differ():
    text = shown(samples.record(samples.OVERFLOWING, randomness=[samples.RANDOM]))
    assert text.startswith("random: model.py:12  random_uniform  (RandomUniform)  it is not seeded\n")
    assert "low precision" not in text and "least change" not in text


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "-"), (0.0, "0 %"), (4e-6, "0.0004 %"), (0.19, "19 %"), (1e-4, "0.01 %"), (1.0, "100 %"), (12.34, "1,200 %"),
        (0.0999, "10 %"), (0.09951, "10 %"), (1e-12, "1.0e-10 %"), (1e9, "1.0e+11 %"), (float("nan"), "NaN"),
        (float("inf"), "Infinity"), (1e308, "Infinity"),
    ],
)  # fmt: skip
def test_shares(value, text):
    assert figures.share_text(value) == text


@pytest.mark.parametrize(
    "value, text", [(91000, "91,000"), (65504.0, "65,504"), (1.2e-5, "1.2e-05"), (123456789.0, "123,000,000")]
)
def test_amounts(value, text):
    assert figures.amount_text(value) == text


@pytest.mark.parametrize(
    "value, text", [(2.3026, "2.3026"), (0, "0.0000"), (12345.6, "12346"), (1e-9, "1.0000e-09"), (None, "-")]
)
def test_losses(value, text):
    assert figures.loss_text(value) == text


@pytest.mark.parametrize("columns", [4, 5, 9, 20])
def test_wide_characters_count_twice(columns):
    assert cell_len(fitted("混合精度混合精度混合精度", columns)) <= max(columns, 5)
