"""The page of decisions in Chromium: decide, tick, export, convert with what was exported."""

import json
import shutil
import time

import jsonschema
import pytest

from npu_formats.toml_document import parsed
from tests.cli.test_convert import report_of
from tests.report.browser import Browser
from tests.report.samples import NAMES_BELOW_SRC
from tf2npu.decisions import document

SOURCE = (
    "import tensorflow as tf\n"
    "e = tf.estimator.Estimator(**a)\n"
    "y = tf.math.accumulate_n([a, b])\n"
    "z = tf.py_func(f, [y], tf.float32)\n"
)
HOSTILE = '</script><img src=x onerror=document.title=\'owned\'>\u2028""" \\ = [x]'


@pytest.fixture
def browser(tmp_path):
    started = Browser(tmp_path / "profile")
    yield started
    started.close()


@pytest.fixture
def report(tool, tmp_path):
    for name in ("train.py", "sub/eval.py"):
        (tmp_path / "s" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "s" / name).write_text(SOURCE)
    tool("convert", tmp_path / "s", tmp_path / "o")
    return tmp_path / "o" / "tf2npu-report"


def work(folder):
    return [f["rule"] for file in report_of(folder)["files"] for f in file["findings"] if f["level"] in ("manual", "unsupported")]


def choose(browser, rule, choice, note=""):
    """Choose on the card of a rule, and write a note, as a click and typing do."""
    card = f"[...document.querySelectorAll('[data-decision]')].find((one) => one.textContent.includes({json.dumps(rule)}))"
    browser.ask(f"{card}.querySelector('input[value={choice}]').click()")
    if note:
        field = f"{card}.querySelector('input[name=note]')"
        browser.ask(f"{field}.value = {json.dumps(note)}; {field}.dispatchEvent(new Event('change', {{bubbles: true}}))")


def exported(browser, kind):
    browser.ask("document.querySelector('#exported textarea').value = ''")
    browser.ask(f"document.querySelector('[data-export={kind}]').click()")
    for _ in range(100):
        if text := browser.ask("document.querySelector('#exported textarea').value"):
            return text
        time.sleep(0.05)
    pytest.fail(f"nothing was exported: {browser.ask('document.getElementById(`kept`).textContent')} {browser.complaints()}")


def test_what_is_decided_and_exported_is_carried_out(browser, report, tool, tmp_path):
    browser.open((report / "decisions.html").as_uri())
    browser.ask("document.getElementById('who').value = 'Ann'; document.getElementById('who').dispatchEvent(new Event('change'))")
    places = browser.ask("Number([...document.querySelectorAll('[data-decision]')].find((one) => "
                         "one.textContent.includes('NPU912')).dataset.places)")  # fmt: skip
    choose(browser, "NPU912", "suppress", "it is in the input pipeline")
    choose(browser, "NPU201", "accept")
    assert browser.ask("document.getElementById('kept').textContent") == "2 of 3 decided, 0 ticked"
    text = exported(browser, "toml")
    jsonschema.Draft202012Validator(json.loads(document.SCHEMA_FILE.read_text())).validate(parsed(text.encode()))
    before = work(report)
    (tmp_path / "d.toml").write_text(text)
    assert tool("convert", tmp_path / "s", tmp_path / "o", "--decisions", tmp_path / "d.toml").code == 1
    assert before.count("NPU912") == places
    assert sorted(work(report)) == sorted(rule for rule in before if rule == "NPU970")
    assert "# tf2npu: ignore[NPU912] Ann: it is in the input pipeline\n" in (tmp_path / "o" / "train.py").read_text()
    browser.open((report / "decisions.html").as_uri())
    assert browser.ask("document.querySelectorAll('[data-decision]').length") == 1
    assert "Ann" in browser.ask("document.querySelector('main').textContent")
    assert browser.complaints() == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in browser.requested())


def test_answers_are_there_after_a_reload_and_can_be_taken_back(browser, report):
    address = (report / "decisions.html").as_uri()
    browser.open(address)
    choose(browser, "NPU912", "accept", "so")
    browser.ask("document.querySelector('[data-state=decided] input[name=done]').click()")
    browser.open(address)
    state = "[...document.querySelectorAll('[data-decision]')].map((one) => one.dataset.state).sort().join()"
    assert browser.ask(state) == "done,open,open"
    assert browser.ask("document.querySelector('[data-state=done] input[name=note]').value") == "so"
    shown = "[...document.querySelectorAll('[data-decision]')].filter((one) => one.checkVisibility()).length"
    browser.open(address + "?show=open")
    assert browser.ask(shown) == 2
    browser.open(address + "?show=done")
    assert browser.ask(shown) == 1
    browser.ask("document.querySelector('[data-state=done] button[name=clear]').click()")
    browser.open(address)
    assert browser.ask(state) == "open,open,open"


def test_the_check_list_has_every_decision_with_its_tick(browser, report):
    browser.open((report / "decisions.html").as_uri())
    choose(browser, "NPU912", "accept", "a [note] <b>")
    browser.ask("document.querySelector('[data-state=decided] input[name=done]').click()")
    lines = [line for line in exported(browser, "md").split("\n") if line.startswith("- [")]
    assert [line[:5] for line in lines].count("- [x]") == 1
    assert len(lines) == 3
    assert r"**accept - a \[note\] \<b\>**" in next(line for line in lines if line.startswith("- [x]"))


def test_hostile_names_and_notes_come_through_as_they_are(browser, tool, tmp_path):
    (tmp_path / "s").mkdir()
    for name in NAMES_BELOW_SRC:
        (tmp_path / "s" / name.replace("/", "-")).write_text(SOURCE)
    tool("convert", tmp_path / "s", tmp_path / "o")
    report = tmp_path / "o" / "tf2npu-report"
    browser.open((report / "decisions.html").as_uri())
    for rule in ("NPU912", "NPU201", "NPU970"):
        choose(browser, rule, "suppress", HOSTILE)
    (tmp_path / "d.toml").write_text(exported(browser, "toml"))
    assert tool("convert", tmp_path / "s", tmp_path / "o", "--decisions", tmp_path / "d.toml").code == 0
    notes = {f["answer"]["note"] for file in report_of(report)["files"] for f in file["findings"] if "answer" in f}
    assert notes == {HOSTILE}
    browser.open((report / "decisions.html").as_uri())
    assert browser.ask("document.title") == "Decisions - tf2npu report"
    assert browser.complaints() == []


def test_a_browser_that_keeps_nothing_says_so_and_exports(browser, report):
    page = report / "decisions.html"
    (report / "assets" / "refuse.js").write_text(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    page.write_text(page.read_text().replace("<head>", '<head><script src="assets/refuse.js"></script>'))
    browser.open(page.as_uri())
    choose(browser, "NPU912", "accept")
    assert "This browser keeps nothing" in browser.ask("document.getElementById('kept').textContent")
    assert 'choice = "accept"' in exported(browser, "toml")


def test_a_full_or_damaged_store_does_no_harm(browser, report):
    address = (report / "decisions.html").as_uri()
    browser.open(address)
    key = "'tf2npu-decisions:' + document.getElementById('answers').dataset.report"
    for value in (
        "{",
        "[]",
        '{"0123456789abcdef": 5, "x": {"choice": "rm"}}',
        '{"0123456789abcdef": {"choice": "rm", "who": [1]}}',
    ):
        browser.ask(f"localStorage.setItem({key}, {json.dumps(value)})")
        browser.open(address)
        assert browser.ask("document.documentElement.dataset.decisions") == "ready"
    browser.ask("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }")
    choose(browser, "NPU912", "accept")
    assert "This browser keeps nothing" in browser.ask("document.getElementById('kept').textContent")


def test_without_its_data_the_page_says_so(browser, report):
    shutil.rmtree(report / "data")
    browser.open((report / "decisions.html").as_uri())
    choose(browser, "NPU912", "accept")
    browser.ask("document.querySelector('[data-export=toml]').click()")
    for _ in range(100):
        told = browser.ask("document.getElementById('kept').textContent")
        if "cannot be read" in told:
            break
        time.sleep(0.05)
    assert "its folder data/" in told
