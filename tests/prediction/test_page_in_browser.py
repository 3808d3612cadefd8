"""The pages in real Chromium, by real key presses: zoom, search, sort, both languages, dark, paper, and no network."""

import base64
import itertools
import json
from pathlib import Path

import pytest

from tests.prediction import samples
from tests.report.browser import ENTER, TAB, Browser
from tests.report.test_browser import contrast
from tests.report.test_keyboard import FOCUSED, REACHABLE, walk
from tf2npu.prediction import comparison, page
from tf2npu.prediction.texts import texts

MARKS = "document.querySelectorAll('#timeline [data-task]').length"
RANGE = "document.getElementById('range').textContent"
CHOSEN = "document.getElementById('chosen').textContent"


@pytest.fixture
def opened(browser, tmp_path):
    """Open the first page of a document; afterwards nothing was complained about, and nothing left file://."""

    def open_page(made, language: str = "en") -> Browser:
        for name, text in page.pages(made, texts(language)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        browser.open((tmp_path / page.FIRST_PAGE).as_uri())
        return browser

    browser.events.clear()
    yield open_page
    assert browser.complaints() == []
    assert browser.requested()
    assert {address.split(":")[0] for address in browser.requested()} <= {"file", "data"}


def key(character: str) -> dict:
    return {"key": character, "text": character}


def arrow(name: str) -> dict:
    return {"key": name, "code": name, "windowsVirtualKeyCode": {"ArrowLeft": 37, "ArrowRight": 39}[name]}


def first_names(browser: Browser) -> list[str]:
    return json.loads(
        browser.ask("JSON.stringify([...document.querySelectorAll('#operator-table tbody th')].map(e => e.textContent))")
    )


def test_keys_zoom_move_and_choose(opened):
    browser = opened(samples.sample())
    assert browser.ask(MARKS) == 5
    assert browser.ask(RANGE) == "0.00 us to 900.00 us of 900.00 us"
    browser.ask("document.getElementById('timeline').focus()")
    browser.press(key("+"))
    assert browser.ask(RANGE) == "225.00 us to 675.00 us of 900.00 us"
    assert browser.ask(MARKS) == 4  # the product begins later
    browser.press(arrow("ArrowRight"))
    assert browser.ask(RANGE) == "337.50 us to 787.50 us of 900.00 us"
    browser.press(key("0"))
    assert browser.ask(RANGE).startswith("0.00 us to 900.00 us")
    browser.press(key("n"))
    browser.press(key("n"))
    assert browser.ask(CHOSEN).startswith("task 2 of 5: conv1/Relu (Relu, vector, train.py:12): 50.00 us")
    browser.press(key("p"))
    assert browser.ask(CHOSEN).startswith("task 1 of 5: conv1/Conv2D")
    for _ in range(30):
        browser.press(key("+"))
    browser.press(key("n"))  # out of sight: it is brought there
    assert browser.ask("document.querySelectorAll('#timeline .chosen').length") == 1


LABELS = """
JSON.stringify([...document.querySelectorAll('#timeline svg > text')].slice(0, 5).map((e) => e.getBoundingClientRect())
  .map((box) => [box.left, box.right]))
"""


def test_the_timeline_is_as_wide_as_its_box_at_first_sight(opened):
    browser = opened(samples.sample())
    box = browser.ask("document.getElementById('timeline').clientWidth")
    assert box > 600
    assert browser.ask("document.querySelector('#timeline svg').viewBox.baseVal.width") == box
    labels = json.loads(browser.ask(LABELS))
    assert all(one[1] < other[0] for one, other in itertools.pairwise(labels)), labels


def test_no_table_is_cut_off_at_a_laptops_width(opened):
    browser = opened(samples.sample())
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    wide = "JSON.stringify([...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length)"
    assert browser.ask(wide) == "0"
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_a_column_without_a_value_is_not_shown(opened):
    """A profile knows neither the work of a task nor the line that made it."""
    made = samples.sample()
    heads = "[...document.querySelectorAll('#operator-table thead th')].filter((e) => e.checkVisibility()).length"
    assert opened(made).ask(heads) == 12
    for task in made.tasks:
        task.flops, task.hbm_bytes, task.source = None, None, ""
    browser = opened(made)
    assert browser.ask(heads) == 9
    shown = "[...document.querySelector('#operator-table tbody tr').cells].filter((e) => e.checkVisibility()).length"
    assert browser.ask(shown) == 9


def test_buttons_do_what_the_keys_do(opened):
    browser = opened(samples.sample())
    browser.ask("document.querySelector('[data-do=in]').click()")
    assert browser.ask(RANGE) == "225.00 us to 675.00 us of 900.00 us"
    for name, expected in (("right", "337.50 us"), ("left", "225.00 us"), ("out", "0.00 us"), ("all", "0.00 us")):
        browser.ask(f"document.querySelector('[data-do={name}]').click()")
        assert browser.ask(RANGE).startswith(expected)


def test_the_wheel_zooms_with_ctrl_alone_and_a_drag_moves(opened):
    browser = opened(samples.sample())
    browser.ask("document.getElementById('timeline').scrollIntoView({block: 'center'})")
    x, y = json.loads(browser.ask("(() => { const b = document.getElementById('timeline').getBoundingClientRect();"
                                  "return JSON.stringify([b.left + b.width / 2, b.top + 40]); })()"))  # fmt: skip
    turn = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -120}
    browser.call("Input.dispatchMouseEvent", **turn, modifiers=2)
    wide = browser.ask(RANGE)
    assert wide != "0.00 us to 900.00 us of 900.00 us" and browser.ask("devicePixelRatio") == 1
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - 100, y=y, button="left", buttons=1)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x - 100, y=y, button="left", clickCount=1)
    assert float(browser.ask(RANGE).split()[0]) > float(wide.split()[0])


def test_a_search_and_a_sort_show_what_they_should(opened):
    browser = opened(samples.sample())
    assert first_names(browser)[:2] == ["conv1/Conv2D", "embedding/Unique"]
    browser.ask("(() => { const f = document.querySelector('.tools input'); f.value = 'CONV1 vector';"
                "f.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert first_names(browser) == ["conv1/Relu"]
    assert browser.ask("document.querySelector('[data-for] [role=status]').textContent") == "1 of 5 shown"
    browser.ask(
        "(() => { const f = document.querySelector('.tools input'); f.value = ''; f.dispatchEvent(new Event('input')); })()"
    )
    browser.ask("document.querySelectorAll('#operator-table thead button')[2].click()")
    by_start = first_names(browser)
    assert by_start[0] == "conv1/Conv2D" and by_start[-1] == "dense/MatMul"
    assert browser.ask("document.querySelectorAll('#operator-table thead th')[2].getAttribute('aria-sort')") == "ascending"
    browser.ask("document.querySelectorAll('#operator-table thead button')[2].click()")
    assert first_names(browser) == by_start[::-1]


def test_a_name_in_the_table_leads_to_its_task(opened):
    browser = opened(samples.sample())
    browser.ask("[...document.querySelectorAll('button.name')].find((e) => e.textContent === 'dense/MatMul').focus()")
    browser.press(ENTER)
    assert browser.ask(CHOSEN).startswith("task 5 of 5: dense/MatMul")
    assert browser.ask("document.activeElement.id") == "timeline"
    low, high = (float(word) for word in browser.ask(RANGE).replace(" us", "").split()[:3:2])
    assert low < 730 and 830 < high < 900.1


def test_tab_goes_through_all_of_the_page_in_its_order(opened):
    browser = opened(samples.sample())
    stops = walk(browser)
    assert len(stops) == browser.ask(REACHABLE)
    numbers = [stop["number"] for stop in stops]
    assert numbers == sorted(numbers)
    assert all(stop["ring"] and stop["seen"] and stop["name"] for stop in stops if stop["tag"] != "DIV"), stops
    assert stops[0]["skip"]


def test_the_first_stop_leads_past_the_head(opened):
    browser = opened(samples.sample())
    for pressed in (TAB, ENTER, TAB):
        browser.press(pressed)
    assert json.loads(browser.ask(FOCUSED))["hash"] == "#main"
    assert browser.ask("document.activeElement.closest('nav, header') === null")


def test_chinese_is_chinese_in_the_script_too(opened):
    browser = opened(samples.sample(), "zh")
    assert browser.ask("document.documentElement.lang") == "zh"
    assert browser.ask(RANGE) == "0.00 us 至 900.00 us，全长 900.00 us"
    assert browser.ask("document.querySelector('[data-for] [role=status]').textContent") == "显示 5 / 5"
    said = browser.ask("document.body.innerText")
    assert "时间去向" in said and "Where the time goes" not in said and "Zoom" not in said


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_have_contrast(opened, scheme):
    browser = opened(samples.sample())
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    hex_of = "(n) => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim()"
    names = ("paper", "ink", "soft", "cube", "vector", "memory-part", "ai-cpu", "launch", "host")
    colour = dict(zip(names, json.loads(browser.ask(f"JSON.stringify({json.dumps(names)}.map({hex_of}))")), strict=True))
    browser.call("Emulation.setEmulatedMedia", features=[])
    assert contrast(colour["ink"], colour["paper"]) > 12
    assert contrast(colour["soft"], colour["paper"]) >= 4.5
    for name in names[3:]:
        assert contrast(colour[name], colour["paper"]) >= 3, name  # what WCAG 2.1 asks of graphics


def test_paper_has_the_timeline_and_no_tools(opened):
    browser = opened(samples.sample())
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert (
        browser.ask("[...document.querySelectorAll('.tools input, .tools button, nav')].some((e) => e.checkVisibility())")
        is False
    )
    assert browser.ask(MARKS) == 5
    browser.call("Emulation.setEmulatedMedia", media="")
    printed = base64.b64decode(browser.call("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF") and len(printed) > 20_000


def test_nothing_is_cut_off_in_a_narrow_window(opened):
    browser = opened(samples.sample())
    browser.call("Emulation.setDeviceMetricsOverride", width=420, height=800, deviceScaleFactor=1, mobile=False)
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_hostile_names_do_nothing(opened):
    browser = opened(samples.hostile())
    browser.ask("document.getElementById('timeline').focus()")
    for _ in range(6):
        browser.press(key("n"))
    assert "owned" not in browser.ask("document.title.replace(/<.*/, '')")
    assert browser.ask("document.querySelectorAll('img, script').length") == 2
    assert browser.ask("document.title").startswith("<script>document.title='owned'</script>.py")


def test_a_page_of_20000_tasks_is_usable(opened):
    browser = opened(samples.large(20_000))
    assert browser.ask("document.querySelectorAll('*').length") < 60_000
    browser.ask("document.getElementById('timeline').focus()")
    for _ in range(10):
        browser.press(key("+"))
    assert browser.ask(RANGE) != "0.00 us to 12.000 ms of 12.000 ms"
    assert 0 < browser.ask(MARKS) < 400
    assert "4 further streams are not drawn: 16 lanes fit" in browser.ask("document.getElementById('timeline').textContent")
    browser.ask("(() => { const f = document.querySelector('.tools input'); f.value = 'layer19999/add';"
                "f.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert first_names(browser) == ["layer19999/Add"]


def test_more_rows_are_shown_when_asked_for(opened):
    browser = opened(samples.large(250))
    assert len(first_names(browser)) == page.MOST_ROWS
    for expected in (200, 250):
        browser.ask("document.querySelector('[data-more]').click()")
        assert len(first_names(browser)) == expected
    assert browser.ask("document.querySelector('[data-more]').hidden")


def test_without_a_script_the_page_reads(browser, tmp_path: Path):
    for name, text in page.pages(samples.sample(), texts("en")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    browser.open((tmp_path / page.FIRST_PAGE).as_uri())
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.call("Page.reload")
    browser.wait_for("Page.loadEventFired")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    said = browser.ask("document.body.innerText")
    assert "The timeline is drawn by a script" in said and "conv1/Conv2D" in said and "dense/MatMul" in said


def test_a_comparison_is_sorted_and_searched(browser, tmp_path):
    found = comparison.compare(samples.sample(), samples.large(40))
    name, text = page.comparison_page(found, texts("en"))
    (tmp_path / name).write_text(text, encoding="utf-8")
    browser.events.clear()
    browser.open((tmp_path / name).as_uri())
    names = "JSON.stringify([...document.querySelectorAll('#type-table tbody th')].map((e) => e.textContent))"
    assert json.loads(browser.ask(names))[0] == "Conv2D"
    browser.ask("document.querySelectorAll('#type-table thead button')[3].click()")
    assert json.loads(browser.ask(names)) == ["Conv2D", "Unique", "MatMul", "Relu", "MemcpyAsync", "Add"]
    assert browser.complaints() == []
