"""The pages as text: every text of a user's is escaped, the script's data cannot end its element, and charts stay inside."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.documents.prediction import ChipStep, Task
from tests.prediction import samples
from tf2npu.prediction import charts, comparison, page
from tf2npu.prediction.texts import texts

ALLOWED = {
    "a", "bdi", "body", "button", "circle", "code", "dd", "div", "dl", "dt", "footer", "g", "h1", "h2", "h3", "head", "header",
    "html", "input", "label", "li", "line", "link", "main", "meta", "nav", "noscript", "ol", "p", "polyline", "rect", "script",
    "section", "span", "strong", "style", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
}  # fmt: skip


class Reader(HTMLParser):
    """The elements and attributes of a page, and the text of its data."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.hrefs: list[str] = []
        self.data = ""
        self._in_data = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.hrefs += [value or "" for name, value in attrs if name in ("href", "src")]
        self._in_data = tag == "script" and ("id", "data") in attrs

    def handle_endtag(self, tag):
        self._in_data = False

    def handle_data(self, data):
        self.data += data if self._in_data else ""


def is_harmless(text: str) -> Reader:
    found = Reader()
    found.feed(text)
    assert set(found.tags) <= ALLOWED
    assert found.tags.count("script") == 2
    assert not [name for name in found.attributes if name.startswith("on") or name == "style"]
    assert all(re.fullmatch(r"#[a-z]+|data:,|(prediction|profile)(-\d+-\w+)?\.html", href) for href in found.hrefs), found.hrefs
    assert "Content-Security-Policy" in text and "default-src &#39;none&#39;" in text
    json.loads(found.data)
    return found


@given(samples.documents, st.sampled_from(["en", "zh"]))
def test_any_document_makes_a_harmless_page(made, language):
    for _, text in page.pages(made, texts(language)):
        is_harmless(text)
        text.encode("utf-8")


def test_hostile_names_are_shown_and_not_obeyed():
    (_, text), *_ = page.pages(samples.hostile(), texts("en"))
    found = is_harmless(text)
    assert "<script>document.title" not in text and "\u202e" not in text
    names = [row[0] for row in json.loads(found.data)["rows"]]
    assert "</script><script>document.title='owned'</script>" in names


def test_the_same_document_makes_the_same_bytes():
    assert list(page.pages(samples.sample(), texts("zh"))) == list(page.pages(samples.sample(), texts("zh")))


def test_a_comparison_is_harmless_too():
    name, text = page.comparison_page(comparison.compare(samples.sample(), samples.hostile()), texts("en"))
    assert name == "comparison.html"
    is_harmless(text)


def test_what_is_left_out_is_said():
    made = samples.large(page.MOST_TASKS + 500)
    (_, text), *_ = page.pages(made, texts("en"))
    assert "hold the 20000 tasks that take most time; 500 shorter ones are left out, and are in the JSON." in text
    assert "The 2000 tasks that take most time are drawn; 18500 shorter ones are left out." in text
    assert text.count("<circle") == charts.MOST_POINTS
    kept = json.loads(is_harmless(text).data)["rows"]
    assert min(row[1] for row in kept) >= sorted(task.duration_us for task in made.tasks)[500]


def test_an_empty_step_makes_a_page():
    (_, text), *_ = page.pages(page.Document(), texts("en"))
    is_harmless(text)
    assert "No task is known." in text and "Roofline" not in text


@given(samples.steps)
def test_all_marks_stand_inside_their_picture(step):
    for picture in filter(None, (charts.roofline(step), charts.memory(step))):
        corners = [tuple(map(float, corner.split(","))) for corner in picture.line.split()]
        corners += [(x, y) for x, y, _ in picture.points]
        assert all(charts.LEFT <= x <= charts.WIDTH - charts.RIGHT for x, _ in corners)
        assert all(charts.TOP <= y <= charts.HEIGHT - charts.BOTTOM for _, y in corners)
        assert len(picture.x_ticks) <= charts.MOST_TICKS + 1


def test_a_task_at_the_roof_is_drawn_on_it():
    """A chip of 100 TFLOPS and 1000 GB/s: 100 operations a byte are where both are used in full."""
    chip = page.Document().chip
    chip.peak_tflops, chip.hbm_gb_per_s = 100.0, 1000.0
    tasks = [Task("flat", flops=1e9, hbm_bytes=1e6, duration_us=10.0), Task("slope", flops=1e7, hbm_bytes=1e6, duration_us=1.0)]
    picture = charts.roofline(ChipStep(chip=chip, tasks=tasks))
    assert picture is not None
    corners = [tuple(map(float, corner.split(","))) for corner in picture.line.split()]
    (flat_x, flat_y, _), (slope_x, slope_y, _) = picture.points
    assert flat_y == corners[-1][1] and flat_x <= corners[-1][0]
    (x0, y0), (x1, y1) = corners[:2]
    assert slope_y == pytest.approx(y0 + (slope_x - x0) * (y1 - y0) / (x1 - x0), abs=0.2)


def test_no_peak_of_memory_is_lost_when_points_are_thinned():
    moments = [(float(n), 5.0) for n in range(10_000)]
    moments[7777] = (7777.0, 9.0)
    picture = charts.memory(ChipStep(memory=moments))
    assert picture is not None and len(picture.line.split()) <= 2 * charts.MOST_POINTS + 2
    assert min(float(corner.split(",")[1]) for corner in picture.line.split()) == charts.TOP


def test_parts_of_the_time_fill_the_bar():
    found = charts.parts(samples.step().shares, ("cube", "vector", "memory", "ai_cpu", "launch", "host", "waiting"))
    assert sum(wide for *_, wide in found) == pytest.approx(charts.WIDTH)
    assert [left for _, _, left, _ in found] == sorted(left for _, _, left, _ in found)
