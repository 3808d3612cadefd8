"""The page in real Chromium: keys, what a screen reader is told, a hundred thousand nodes, hostile names, both languages."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.accuracy_check import samples
from tests.accuracy_check.samples import MIX, SAMPLES
from tests.report.browser import ENTER, TAB, Browser
from tf2npu.accuracy_check import page
from tf2npu.accuracy_check.texts import texts

SAID = "document.getElementById('said').textContent"
SHIFT = 8
FOCUSED = "document.activeElement.textContent"


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a record; afterwards nothing was complained about, and nothing left file://."""

    def open_page(found, language: str = "en", **links) -> Browser:
        path = tmp_path / "check.html"
        path.write_text(page.page(found, texts(language), **links), encoding="utf-8", errors="backslashreplace")
        browser.open(path.as_uri())
        return browser

    browser.events.clear()
    yield open_page
    assert browser.complaints() == []
    assert {address.split(":")[0] for address in browser.requested()} <= {"file", "data"}


def put(browser: Browser, element: str, value: str) -> None:
    found = f"const e = document.getElementById('{element}')"
    browser.ask(f"(() => {{ {found}; e.value = '{value}'; e.dispatchEvent(new Event('input')); }})()")


def cells(browser: Browser, column: int) -> list[str]:
    rows = f"[...document.querySelectorAll('#rows tr[data-row]')].map((e) => e.cells[{column}].textContent)"
    return json.loads(browser.ask(f"JSON.stringify({rows})"))


def test_it_opens_on_the_first_difference(opened):
    browser = opened(SAMPLES["precision"])
    assert browser.ask("document.querySelector('h1').textContent") == "The difference begins at encoder/scores"
    assert browser.ask("document.activeElement.id") == "first"
    assert "encoder/scores" in browser.ask("document.querySelector('#rows tr.chosen').textContent")


def test_keys_lead_to_the_first_difference_and_to_its_row(opened):
    browser = opened(SAMPLES["precision"])
    browser.press({**TAB, "modifiers": SHIFT})
    assert browser.ask(FOCUSED) == "Skip to the first difference"
    browser.press(ENTER)
    assert browser.ask("location.hash") == "#first"
    browser.press(TAB)
    while "Show it" not in browser.ask(FOCUSED):
        assert browser.ask("document.activeElement.closest('.first') !== null")
        browser.press(TAB)
    browser.press(ENTER)
    assert browser.ask("document.activeElement.getAttribute('aria-current')") == "true"
    assert browser.ask(FOCUSED).startswith("6encoder/scores:0MatMulmodel.py:6")
    browser.press({"key": "ArrowDown", "code": "ArrowDown", "windowsVirtualKeyCode": 40})
    assert browser.ask(FOCUSED).startswith("7layer6/MatMul:0")


def test_a_screen_reader_is_told_where_it_begins_and_the_losses(opened):
    browser = opened(SAMPLES["precision"])
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    told = [(n["role"]["value"], n["name"]["value"]) for n in nodes if "name" in n and not n["ignored"]]
    assert [name for role, name in told if role == "heading"][:3] == [
        "The difference begins at encoder/scores", "Where the difference begins", "Runs",
    ]  # fmt: skip
    assert ("image", "Loss of each run by steps; the table below has the numbers") in told
    assert "Show it in the table" in [name for role, name in told if role == "button"]
    losses = browser.ask("document.querySelector('#losses tbody tr:last-child').textContent")
    assert losses == "2" + "1.7714" * 5 + "2.1090"
    assert browser.ask("document.getElementById('rows').getAttribute('aria-rowcount')") == "13"


def test_updates_stand_beside_the_tolerance_that_counts_for_them(opened):
    found = samples.record(
        [samples.ORIGINAL, samples.agreeing("E", MIX, tolerance=0.01, update_error=0.14, update_tolerance=0.5)]
    )
    browser = opened(found)
    row = json.loads(
        browser.ask("JSON.stringify([...document.querySelector('#runs tbody tr:last-child').cells].map((e) => e.textContent))")
    )
    assert row[4:8] == ["1 %", "14 %", "50 %", "agrees, 210 of 210 nodes"]


def test_curves_on_each_other_are_one_and_have_axes(opened):
    browser = opened(SAMPLES["precision"])
    assert browser.ask("document.querySelectorAll('.curves polyline').length") == 2
    keys = json.loads(browser.ask("JSON.stringify([...document.querySelectorAll('figcaption .key')].map((e) => e.textContent))"))
    assert keys == ["A, A', B, C, D", f"E {MIX}"]
    shown = "JSON.stringify([...document.querySelectorAll('.plot span')].map((e) => e.textContent))"
    assert json.loads(browser.ask(shown)) == ["2.3026", "2.0370", "1.7714", "Step 0", "2"]
    points = browser.ask("document.querySelector('.curves polyline').getAttribute('points')").split()
    assert (points[0].split(",")[0], points[-1].split(",")[0]) == (
        "0.00",
        "100.00",
    )  # the first and the last step stand above their names


def test_the_tables_fit_a_laptop(opened):
    browser = opened(SAMPLES["precision"])
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    wide = "JSON.stringify([...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length)"
    assert browser.ask(wide) == "0"
    browser.call("Emulation.clearDeviceMetricsOverride")


MODES = [MIX, "force_fp16", "force_fp32", "allow_fp32_to_fp16", "cube_fp16in_fp32out", "must_keep_origin_dtype"]


def test_a_check_of_many_modes_fits_a_laptop_and_shows_the_runs_that_are_chosen(opened):
    later = [samples.agreeing("E", mode) for mode in MODES[:-1]] + [samples.differing("E", MODES[-1], "precision")]
    browser = opened(samples.record([*samples.UP_TO_D, *later, *(samples.agreeing("F", mode) for mode in MODES)]))
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    wide = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText).join()"
    assert browser.ask(wide) == ""
    heads = "JSON.stringify([...document.querySelectorAll('#rows thead th')].map((e) => e.textContent))"
    shown = json.loads(browser.ask(heads))
    assert len(shown) == 12 and "E must_keep_origin_dtype: own error" in shown  # the run that differs is among them
    browser.ask("document.querySelectorAll('#of-runs input').forEach((box) => { if (box.checked) box.click(); })")
    assert json.loads(browser.ask(heads)) == ["No.", "Node", "Operator", "Line"]
    browser.ask("document.querySelector('#of-runs input').click()")
    assert json.loads(browser.ask(heads))[4:] == ["B: error", "B: own error"]
    assert cells(browser, 4)[1] == "1e-7"
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_search_threshold_and_sorting(opened):
    browser = opened(SAMPLES["precision"])
    put(browser, "search", "layer1")
    assert browser.ask(SAID) == "3 of 12 nodes" and cells(browser, 0) == ["2", "11", "12"]
    put(browser, "search", "")
    put(browser, "least", "9.5e-8")
    assert browser.ask(SAID) == "2 of 12 nodes"
    put(browser, "least", "1")
    assert browser.ask(SAID) == "no node fits"
    put(browser, "least", "")
    for order in ("descending", "ascending"):
        browser.ask("document.querySelectorAll('#rows thead button')[10].click()")  # the error in 16 bits
        assert browser.ask("document.querySelectorAll('#rows thead th')[10].getAttribute('aria-sort')") == order
        numbers = [float(text) for text in cells(browser, 10)]
        assert numbers == sorted(numbers, reverse=order == "descending") and max(numbers) == 0.1


@pytest.mark.whole
def test_a_hundred_thousand_nodes_open(opened, record_property):
    found = samples.record(samples.OVERFLOWING, n_nodes=100_000)
    began = time.monotonic()
    browser = opened(found)
    seconds = time.monotonic() - began
    record_property("figure", f"page of a check with 100,000 nodes and 4 runs: made and opened in {seconds:.1f} s")
    assert browser.ask(SAID) == "100000 of 100000 nodes"
    assert len(cells(browser, 0)) < 200
    put(browser, "search", "layer99999/")
    assert browser.ask(SAID) == "1 of 100000 nodes" and cells(browser, 1) == ["layer99999/MatMul:0"]


def test_hostile_names_run_no_script(opened):
    for found in (samples.hostile(), samples.hostile_and_random()):
        browser = opened(found)
        assert browser.ask("window.hit") is None and browser.ask("document.images.length") == 0
        assert "</script><script>window.hit=1" in browser.ask("document.querySelector('main').textContent")
        assert "U+202E" in browser.ask("document.querySelector('main').textContent")
        put(browser, "search", "onerror")
        assert browser.ask("window.hit") is None


def test_pages_of_comparisons_are_linked_and_nothing_else(opened):
    links = {f"E {MIX}": "compare/result_1.html", "B": "javascript:window.hit=1", "C": "../x.html", "D": "//x/y.html"}
    browser = opened(SAMPLES["precision"], comparisons=links)
    hrefs = "JSON.stringify([...document.querySelectorAll('main a')].map((e) => e.getAttribute('href')))"
    assert set(json.loads(browser.ask(hrefs))) == {"compare/result_1.html", "customize_dtypes.cfg"}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_way_to_come_out_is_shown(opened, name):
    browser = opened(SAMPLES[name])
    assert browser.ask("document.querySelectorAll('#runs tbody tr').length") == len(SAMPLES[name].runs)
    assert browser.ask("document.querySelector('#first') !== null") == (name not in ("clean", "many_steps", "stopped"))


def test_chinese(opened):
    browser = opened(SAMPLES["precision"], "zh")
    assert browser.ask("document.documentElement.lang") == "zh"
    text = re.sub(r"\s", "", browser.ask("document.querySelector('main').textContent"))
    assert "差异从这里开始" in text and "自身误差" in text


def test_the_page_reads_without_a_script():
    text = page.page(samples.record(samples.OVERFLOWING, n_nodes=300), texts("en"))
    assert text.count("<tr><td>") == 200 and "customize_dtypes.cfg" in text
