"""The page in real Chromium: sliders, filters, sorting, keys, a hundred thousand rows, hostile names, both languages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.comparison.hand_made import Sample, whole
from tests.report.browser import ENTER, Browser
from tf2npu.comparison import comparison, page
from tf2npu.comparison.texts import texts
from tf2npu.comparison.verdicts import Thresholds

HOSTILE = "</script><script>window.hit=1</script><img src=x onerror='window.hit=1'>&amp;\u202e"
ROWS = "[...document.querySelectorAll('#rows tbody tr[data-row]')].map((e) => e.textContent)"
SAID = "document.getElementById('said').textContent"
CHOSEN = "document.getElementById('chosen').textContent"


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> comparison.Comparison:
    return compared(whole(tmp_path_factory.mktemp("sample")))


def compared(made: Sample) -> comparison.Comparison:
    return comparison.compare(made.step, made.reference, graph=made.graph, step=None, thresholds=Thresholds())


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a comparison; afterwards nothing was complained about, and nothing left file://."""

    def open_page(found: comparison.Comparison, language: str = "en") -> Browser:
        path = tmp_path / "compare.html"
        path.write_text(page.page(found, texts(language)), encoding="utf-8")
        browser.open(path.as_uri())
        return browser

    browser.events.clear()
    yield open_page
    assert browser.complaints() == []
    assert {address.split(":")[0] for address in browser.requested()} <= {"file", "data"}


def arrow(name: str) -> dict:
    return {"key": name, "code": name, "windowsVirtualKeyCode": {"ArrowDown": 40, "ArrowUp": 38, "End": 35, "Home": 36}[name]}


def rows(browser: Browser) -> list[str]:
    return json.loads(browser.ask(f"JSON.stringify({ROWS})"))


def put(browser: Browser, element: str, value: str, event: str = "input") -> None:
    found = f"const e = document.getElementById('{element}')"
    browser.ask(f"(() => {{ {found}; e.value = '{value}'; e.dispatchEvent(new Event('{event}')); }})()")


def click(browser: Browser, element: str) -> None:
    browser.ask(f"document.getElementById('{element}').click()")


def test_it_opens_on_the_first_difference(opened, found):
    browser = opened(found)
    assert browser.ask("document.querySelector('h1').textContent") == "The difference begins at loss"
    assert browser.ask("document.activeElement.id") == "first"
    assert browser.ask("document.querySelector('#worst tbody tr').textContent") == "[]0.03.0-3"
    assert "loss" in browser.ask("document.querySelector('#rows tr.chosen').textContent")
    assert browser.ask(CHOSEN).startswith("row ")


def test_a_key_press_leads_from_the_first_difference_to_its_row(opened, found):
    browser = opened(found)
    browser.ask("document.getElementById('to-row').focus()")
    browser.press(ENTER)
    assert browser.ask("document.activeElement.getAttribute('aria-current')") == "true"
    assert "lossMeanoutput 0" in browser.ask("document.activeElement.textContent")
    browser.press(arrow("ArrowDown"))
    assert "boolsGreaterinput 0" in browser.ask("document.activeElement.textContent")
    browser.press(arrow("End"))
    assert "L1b" in browser.ask("document.activeElement.textContent")


def test_a_screen_reader_is_told_where_it_is(opened, found):
    browser = opened(found)
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    headings = [n["name"]["value"] for n in nodes if n["role"]["value"] == "heading"]
    assert headings[:2] == ["The difference begins at loss", "Where the difference begins"]
    counted = int(browser.ask("document.getElementById('rows').getAttribute('aria-rowcount')"))
    assert counted == int(browser.ask(SAID).split()[0]) + 1
    assert next(n["name"]["value"] for n in nodes if n["role"]["value"] == "button") == "Show it in the table"


def test_invalid_data_and_inserted_operators_come_and_go(opened, found):
    browser = opened(found)
    n_rows = len(found.rows)
    n_valid = sum(row.verdict != "not compared" for row in found.rows)
    assert browser.ask(SAID) == f"{n_valid} of {n_rows} rows"
    click(browser, "invalid")
    assert browser.ask(SAID) == f"{n_rows} of {n_rows} rows"
    click(browser, "inserted")
    assert browser.ask(SAID) == f"{n_rows - sum(row.reference == '*' for row in found.rows)} of {n_rows} rows"
    click(browser, "only")
    assert browser.ask(SAID) == f"{sum(row.verdict == 'differs' for row in found.rows)} of {n_rows} rows"


def test_a_slider_moves_a_threshold_and_the_button_puts_it_back(opened, found):
    browser = opened(found)
    click(browser, "only")
    before = browser.ask(SAID)
    put(browser, "slider-1", "1000")  # MaxAbsoluteError 1000
    assert browser.ask("document.getElementById('value-1').textContent") == "1000"
    put(browser, "slider-2", "1000")  # RelativeEuclideanDistance 10
    assert browser.ask(SAID) != before
    put(browser, "slider-1", "0")
    limit = float(browser.ask("document.getElementById('value-1').textContent"))
    expected = sum(row.values.get("MaxAbsoluteError", 0) > limit or row.verdict == "differs" for row in found.rows)
    assert limit == 1e-8 and int(browser.ask(SAID).split()[0]) >= expected - 3
    click(browser, "reset")
    assert browser.ask(SAID) == before


def test_search_and_sort(opened, found):
    browser = opened(found)
    put(browser, "search", "fc matmul")
    assert all("fc/MatMul" in row for row in rows(browser)) and len(rows(browser)) == 3
    put(browser, "search", "")
    place = page.SHOWN_FIRST.index("MaxAbsoluteError")
    for order in ("ascending", "descending"):
        browser.ask(f"document.querySelectorAll('#rows thead button')[{place}].click()")
        assert browser.ask(f"document.querySelectorAll('#rows thead th')[{place}].getAttribute('aria-sort')") == order
    shown = json.loads(
        browser.ask(
            f"JSON.stringify([...document.querySelectorAll('#rows tr[data-row]')].map((e) => e.cells[{place}].textContent))"
        )
    )
    numbers = [float(text) for text in shown if text not in ("-", "nan")]
    assert numbers == sorted(numbers, reverse=True) and numbers[0] == 3


def test_the_head_that_sorts_keeps_the_focus(opened, found):
    browser = opened(found)
    browser.ask("document.querySelectorAll('#rows thead button')[1].focus()")
    browser.press(ENTER)
    assert browser.ask("document.activeElement.textContent") == "Operator"
    assert browser.ask("document.activeElement.parentElement.getAttribute('aria-sort')") == "ascending"


def test_columns_are_chosen(opened, found):
    browser = opened(found)
    browser.ask("document.querySelector('#columns input[value=Line]').click()")
    assert browser.ask("[...document.querySelectorAll('#rows thead th')].map((e) => e.textContent).join()").endswith("Line,Why")
    put(browser, "search", "fc/matmul")
    assert "model.py:7" in "".join(rows(browser))


@pytest.mark.whole
def test_a_hundred_thousand_rows_stand_in_the_document_a_screen_at_a_time(opened, found):
    many = [replace(row, index=n, device=f"layer{n}/{row.device}") for n in range(100_000) for row in (found.rows[n % 40],)]
    browser = opened(replace(found, rows=many))
    click(browser, "invalid")
    assert browser.ask(SAID) == "100000 of 100000 rows"
    assert len(rows(browser)) < 200
    put(browser, "search", "layer99999/")
    assert browser.ask(SAID) == "1 of 100000 rows" and "layer99999/" in rows(browser)[0]


def test_hostile_names_run_no_script(opened, tmp_path):
    made = whole(tmp_path / "sample")
    for operator in made.operators:
        if operator["name"] == "loss":
            operator["type"] = HOSTILE
            operator["attr"].append({"key": "_user_line", "value": {"s": HOSTILE}})
            operator["attr"].append({"key": "_datadump_original_op_names", "value": {"list": {"s": ["loss", HOSTILE]}}})
            operator["output_desc"][0]["attr"].append({"key": "_datadump_origin_name", "value": {"s": "loss"}})
    made.write_graph()
    (made.step / "<img src=x onerror=window.hit=1>").write_bytes(b"")
    browser = opened(compared(made))
    assert browser.ask("window.hit") is None
    assert "</script><script>window.hit=1" in browser.ask("document.querySelector('.verdict').textContent")
    assert "U+202E" in browser.ask("document.querySelector('.verdict').textContent")


def test_chinese(opened, found):
    browser = opened(found, "zh")
    assert browser.ask("document.documentElement.lang") == "zh"
    text = re.sub(r"\s", "", browser.ask("document.querySelector('main').textContent"))
    assert "差异从这里开始" in text and "显示无效数据" in text


def test_the_page_reads_without_a_script(found, tmp_path: Path):
    text = page.page(found, texts("en"))
    assert text.count("<tr><td>") == len(found.rows) and "Elements furthest apart" in text


def test_the_table_fits_a_laptop(opened, found):
    browser = opened(found)
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    wide = (
        "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.scrollWidth).join()"
    )
    assert browser.ask(wide) == ""
    browser.call("Emulation.clearDeviceMetricsOverride")
