"""A report as one file: every link of the pages leads to something in it, nothing else is loaded, and size has a limit."""

import html
import re
import webbrowser

import pytest
from click.testing import CliRunner

from tests.report import samples
from tests.report.browser import Browser
from tf2npu.cli import cli
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report import writer
from tf2npu.report.errors import TooLarge
from tf2npu.report.formats import as_json
from tf2npu.report.html.single_file import single_file
from tf2npu.report.model.report import FileReport, Report

VISIBLE = "[...document.querySelectorAll('.one-page')].filter((e) => e.checkVisibility()).map((e) => e.id).join()"


def written(tmp_path, report: Report):
    (tmp_path / "report.json").write_text("".join(as_json.pieces(report)), encoding="utf-8")
    return tmp_path / "report.json"


def test_every_link_leads_to_a_place_of_the_file_and_ids_are_unique():
    text = single_file(samples.sample())
    ids = re.findall(r'<[^<>]* id="?([^" >]*)', text)
    assert len(ids) == len(set(ids))
    links = re.findall(r' href="([^"]*)"', text)
    assert len(links) > 50
    assert {link for link in links if not link.startswith("#")} == set()
    assert {link[1:] for link in links} <= set(ids)


def test_code_that_looks_like_an_anchor_stays_as_it_is():
    code = 'f(x, id="a", href="b.html")  # id=L3\n'
    found = [Finding("NPU1", Level.MANUAL, Span(1, 1, 1, 2), "Look at it.")]
    text = single_file(Report([FileReport("a.py", Status.CONVERTED, found, source=code + "x = 1\n" * 40 + code)]))
    shown = html.unescape(re.sub(r"<[^<>]*>", "", text))
    assert shown.count(code.strip()) == 2


def test_it_has_each_finding_of_the_pages(tmp_path):
    text = single_file(samples.sample())
    for _, finding in samples.sample().findings():
        assert f">{finding.rule}<" in text
    assert "<script" not in text
    assert "document.title" in text  # of hostile names, as text


def test_a_browser_shows_one_page_at_a_time_without_scripts_and_asks_for_nothing(tmp_path):
    target = tmp_path / "out"
    writer.write(samples.sample(), target, ["one-file"])
    browser = Browser(tmp_path / "profile")
    try:
        browser.open((target / "report.html").as_uri())
        assert browser.ask(VISIBLE) == "p0"
        browser.ask("document.querySelector('.note').scrollIntoView(); location.hash = document.querySelector('.note').id")
        assert re.fullmatch(r"p\d+", browser.ask(VISIBLE))
        assert browser.ask("document.querySelector('.note').checkVisibility()")
        browser.ask("location.hash = 'words'")
        assert browser.ask(VISIBLE) == "p0" and browser.ask("document.querySelector('.legend dd').checkVisibility()")
        styled = "getComputedStyle(document.querySelector('{}')).{}"
        assert browser.ask(styled.format(".outcome", "display")) == "flex", "the style sheet of the overview"
        assert browser.ask(styled.format(".answer", "display")) == "none", "fields that need the script of the decisions"
        assert {url.partition(":")[0] for url in browser.requested()} == {"file"}
        assert browser.complaints() == []
        assert browser.ask("document.title") == "tf2npu report"
    finally:
        browser.close()


@pytest.mark.whole
def test_what_is_too_large_is_refused_with_the_reason_and_nothing_is_written(tmp_path):
    files = [
        FileReport(f"m{n}.py", Status.CONVERTED, list(samples.sample().files[0].findings), source="x = 1\n" * 900)
        for n in range(600)
    ]
    with pytest.raises(TooLarge, match="more than 5 MB as one file; take --format html"):
        single_file(Report(files))
    file = written(tmp_path, Report(files))
    done = CliRunner().invoke(cli, ["report", str(file), "--single-file"])
    assert done.exit_code != 0
    assert not (tmp_path / "report.html").exists()


def test_the_command_writes_it_and_opens_it(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    file = written(tmp_path, samples.build([samples.result()]))
    done = CliRunner().invoke(cli, ["report", str(file), "--single-file", "--open"])
    assert done.exit_code == 0, done.output
    assert opened == [(tmp_path / "report.html").resolve().as_uri()]


def test_without_a_page_it_says_that_nothing_can_be_opened(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(webbrowser, "open", lambda address: pytest.fail("nothing to open"))
    file = written(tmp_path, samples.build([samples.result()]))
    assert CliRunner().invoke(cli, ["report", str(file), "--format", "md", "--open"]).exit_code == 0
    assert "no web page was written" in caplog.text
