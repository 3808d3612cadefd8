"""Text on a terminal: golden texts in both languages, figures, and nothing that the terminal would obey."""

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.escape import ODD
from tests.prediction import samples, templates
from tf2npu.prediction import as_text, comparison, figures
from tf2npu.prediction.texts import Texts, advice_kinds, texts
from tf2npu.report.formats.as_text import show

GOLDEN = Path(__file__).parent / "golden"


def shown(lines) -> str:
    stream = io.StringIO()
    show(lines, stream)
    return stream.getvalue()


def kept(request, name: str, text: str) -> None:
    """Hold a text against its golden file."""
    if request.config.getoption("--regen"):
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8"), "`pytest --regen` writes it; look at the difference first"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_text_is_the_golden_one(request, language):
    kept(request, f"prediction.{language}.txt", shown(as_text.full(samples.sample(), texts(language))))
    found = comparison.compare(samples.sample(), samples.large(40))
    kept(request, f"comparison.{language}.txt", shown(comparison.lines(found, texts(language))))


@given(samples.documents, st.sampled_from(["en", "zh"]))
def test_nothing_reaches_the_terminal_that_it_would_obey(made, language):
    for line in shown(as_text.full(made, texts(language))).split("\n"):
        assert not ODD.search(line)


@given(samples.documents, samples.documents)
def test_a_comparison_has_the_time_of_both_steps(one, other):
    found = comparison.compare(one, other)
    assert sum(row.before_us for row in found.rows) == pytest.approx(sum(task.duration_us for task in one.tasks))
    assert sum(row.n_after for row in found.rows) == len(other.tasks)
    shown(comparison.lines(found, texts("en")))


def test_every_text_has_one_in_chinese():
    known = texts("zh").of_template
    assert len(templates.templates()) > 80 and len(templates.notes()) >= 6
    assert sorted(text for text in templates.templates() if not known.get(text)) == [], "run python -m tests.prediction.templates"
    assert sorted(set(known) - templates.templates()) == [], "no longer said"
    assert templates.script_calls() <= set(known)


def test_no_value_is_lost_or_made_up_in_chinese():
    for english, chinese in texts("zh").of_template.items():
        slots = re.findall(r"\{(\d*)\}", chinese)
        numbers = sorted(int(n) for n in slots) if all(slots) else list(range(len(slots)))
        assert numbers == list(range(english.count("{}"))), english


def test_every_kind_of_advice_has_a_title_and_a_reason_in_both_languages():
    asked = {"ai_cpu", "unaligned_shapes", "small_kernels", "format_conversions", "fp32_cube", "input_pipeline", "dynamic_shapes",
             "few_blocks"}  # fmt: skip
    assert set(advice_kinds()) == asked
    for item in samples.step().advice:
        assert all(texts(language).title(item) and texts(language).why(item).endswith((".", "。")) for language in ("en", "zh"))
        assert texts("en").title(item) != texts("zh").title(item)


def test_advice_of_a_later_version_is_shown_by_its_kind():
    line = shown(as_text.full(samples.hostile(), Texts("en")))
    assert "<script>document.title='owned'</script>.py (saves 1 ms)" in line


@pytest.mark.parametrize(
    ("value", "us", "n_bytes"),
    [(0, "0 us", "0 bytes"), (9.996, "10.00 us", "10.00 bytes"), (999.6, "1.00 ms", "1,000 bytes"), (1024, "1.02 ms", "1 KB"),
     (1e6, "1 s", "977 KB"), (5e9, "5,000 s", "4.66 GB"), (None, "-", "-")],
)  # fmt: skip
def test_amounts_have_a_unit_that_fits(value, us, n_bytes):
    assert (figures.us(value), figures.n_bytes(value)) == (us, n_bytes)


@given(st.floats(1e-3, 1e15))
def test_an_amount_is_shown_to_within_a_percent(value):
    number, unit = figures.us(value).split()
    factor = {"us": 1, "ms": 1e3, "s": 1e6}[unit]
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=0.006, abs=0.0051)


def test_columns_of_a_table_stand_below_each_other_in_chinese_too():
    rows = list(as_text.aligned([("时间", "算子"), ("1", "a")], n_right=1))
    assert rows == ["  时间  算子", "     1  a"]
