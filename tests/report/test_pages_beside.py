"""Pages of predict, profile and check beside a report, in Chromium: both lead to each other, and a run leaves them there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.accuracy_check.samples import SAMPLES
from tests.prediction import samples as predictions
from tests.report.browser import Browser
from tests.report.samples import result
from tests.report.test_json import RUN
from tf2npu.accuracy_check import output as check_output
from tf2npu.accuracy_check import texts as check_texts
from tf2npu.accuracy_check.document import document
from tf2npu.findings import EntryScript
from tf2npu.prediction import output, page
from tf2npu.prediction.texts import texts
from tf2npu.report import writer
from tf2npu.report.model.build import build
from tf2npu.runs import merge, merge_check

NAVIGATION = "JSON.stringify([...document.querySelectorAll('nav.sections a')].map((e) => e.getAttribute('href')))"


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A report with a run, and pages of a prediction and of a check beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "report"
    report = build([result()])
    report.run = {**RUN, "script": "train.py", "training_steps": 5, "exit_code": 0}
    report.entries = (EntryScript("train.py", "guard", True),)
    writer.write(report, folder, ["html", "json"])
    made = predictions.sample()
    for made.origin in ("prediction", "profile"):
        output.put_pages(page.pages(made, texts("en"), home=output.home_of(folder)), folder)
    merge.link_pages(folder)
    check_output.put(SAMPLES["precision"], folder, check_texts.texts("en"))
    merge_check.merge(folder, document(SAMPLES["precision"]))
    return folder


def test_a_prediction_and_a_profile_stand_beside_each_other(place):
    """Both are of one step: the one that was written last does not stand in the place of the other."""
    shown = [(place / name).read_text(encoding="utf-8") for name in ("prediction.html", "profile.html")]
    assert shown[0] != shown[1] and "measured" not in shown[0].lower().split("</h1>")[0]


def click(browser: Browser, selector: str) -> str:
    """The path to which a link leads, and that is open then."""
    browser.ask(f"document.querySelector({json.dumps(selector)}).click()")
    browser.wait_for("Page.loadEventFired")
    return str(browser.ask("location.pathname.split('/').pop()"))


def test_every_page_leads_there_and_back(browser, place):
    for start in ("index.html", "runs.html"):
        for target in ("prediction.html", "profile.html", "check.html"):
            browser.open((place / start).as_uri())
            assert target in json.loads(browser.ask(NAVIGATION))
            assert click(browser, f"nav.sections a[href='{target}']") == target
            assert click(browser, ".brand a") == "index.html"


def test_the_section_of_a_check_leads_to_its_page(browser, place):
    browser.open((place / "runs.html").as_uri())
    assert click(browser, "#check p a") == "check.html"


def test_no_table_of_runs_is_cut_off_at_a_laptops_width(browser, place):
    browser.open((place / "runs.html").as_uri())
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
    wide = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText).join()"
    assert browser.ask(wide) == "" and browser.ask("document.documentElement.scrollWidth") <= 1280
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_the_evidence_of_a_script_leads_to_what_shows_it(browser, place):
    browser.open((place / "index.html").as_uri())
    assert "A check of 3 steps" in browser.ask("document.querySelector('.entry p').textContent")
    assert click(browser, ".entry p a") == "check.html"
    report = merge.load(place)
    report.check = None
    merge.write_again(report, place)
    browser.open((place / "index.html").as_uri())
    assert "A run trained for 5 steps" in browser.ask("document.querySelector('.entry p').textContent")
    assert click(browser, ".entry p a") == "runs.html"


def test_pages_stay_when_a_run_is_put_in_and_go_with_a_conversion(place):
    merge.write_again(merge.load(place), place)
    assert all((place / name).is_file() for name in ("prediction.html", "profile.html", "check.html"))
    writer.write(build([result()]), place, ["html", "json"], force=True)
    assert not (place / "prediction.html").exists()
    assert "prediction.html" not in (place / "index.html").read_text(encoding="utf-8")


def test_a_page_without_a_report_beside_it_leads_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert output.home_of(tmp_path / "alone") == "" and output.home_of(None) == ""
    output.put_pages(page.pages(predictions.sample(), texts("en"), home=output.home_of(tmp_path / "alone")), tmp_path / "alone")
    assert "index.html" not in (tmp_path / "alone" / "prediction.html").read_text(encoding="utf-8")
