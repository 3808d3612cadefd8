"""A report folder is written once; what is there already and still true is left as it is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.report import samples
from tests.report.test_json import CHECK, RUN
from tf2npu.engine.convert_file import convert_source
from tf2npu.report import manifest, writer
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report
from tf2npu.runs import merge


@pytest.fixture
def report() -> Report:
    return build([convert_source("import tensorflow as tf\ns = tf.Session()\n", "train.py")])


def stamps(place: Path) -> dict[str, int]:
    return {str(p.relative_to(place)): p.stat().st_mtime_ns for p in place.rglob("*") if p.is_file()}


def test_an_unchanged_report_is_not_written_again(tmp_path: Path, report: Report) -> None:
    writer.write(report, tmp_path, ["html", "json"])
    before = stamps(tmp_path)
    writer.write(report, tmp_path, ["html", "json"])
    assert stamps(tmp_path) == before


def test_a_missing_page_is_written_again(tmp_path: Path, report: Report) -> None:
    writer.write(report, tmp_path, ["html"])
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.html")}
    next(p for p in before if p.name != "index.html").unlink()
    writer.write(report, tmp_path, ["html"])
    assert {p: p.read_bytes() for p in tmp_path.rglob("*.html")} == before


def test_a_damaged_page_is_written_again(tmp_path: Path, report: Report) -> None:
    writer.write(report, tmp_path, ["html", "json"])
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    (tmp_path / "report.json").write_bytes(before[tmp_path / "report.json"][:100])
    writer.write(report, tmp_path, ["html", "json"])
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_other_findings_or_formats_make_another_report(tmp_path: Path, report: Report) -> None:
    writer.write(report, tmp_path, ["html", "json"])
    first = (tmp_path / "index.html").read_bytes()
    writer.write(build([convert_source("import tensorflow as tf\n", "train.py")]), tmp_path, ["html", "json"])
    assert (tmp_path / "index.html").read_bytes() != first
    writer.write(report, tmp_path, ["json"])
    assert not (tmp_path / "index.html").exists() and (tmp_path / "report.json").exists()


def test_pages_are_the_same_whatever_number_of_processes_writes_them(tmp_path: Path) -> None:
    code = "import tensorflow as tf\ns = tf.Session()\n"
    many = build([convert_source(code + f"x = {number}\n", f"part/file{number}.py") for number in range(90)])
    for jobs in (1, 2):
        writer.write(many, tmp_path / str(jobs), ["html", "json"], jobs=jobs)
    one, two = ({str(p.relative_to(tmp_path / str(n))): p.read_bytes() for p in (tmp_path / str(n)).rglob("*") if p.is_file()}
                for n in (1, 2))  # fmt: skip
    assert one == two
    assert sum(name.startswith("files/") for name in one) == 90


def test_a_page_of_somebody_else_stays_also_where_a_report_is_known(tmp_path: Path, report: Report) -> None:
    writer.write(report, tmp_path, ["json"])
    (tmp_path / "index.html").write_text("mine")
    for put in (writer.check, partial(writer.write, report)):
        with pytest.raises(writer.ForeignFile, match=r"index\.html: exists"):
            put(tmp_path, ["html", "json"])
    assert (tmp_path / "index.html").read_text() == "mine"
    writer.write(report, tmp_path, ["html", "json"], force=True)
    writer.write(report, tmp_path, ["html", "json"])  # now it is ours
    assert (tmp_path / "index.html").read_text() != "mine"


def test_a_report_broken_off_is_taken_up(tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    store = manifest.store
    monkeypatch.setattr(manifest, "store", lambda place, written: None if written.digest else store(place, written))
    writer.write(report, tmp_path, ["html", "json"])  # killed before it could note that it was done
    monkeypatch.undo()
    writer.write(report, tmp_path, ["html", "json"])


def test_a_page_that_has_not_changed_is_not_written_again(tmp_path: Path, report: Report) -> None:
    target = tmp_path / "report"
    writer.write(report, target, ["html", "json"])
    before = {path: path.stat().st_ino for path in target.rglob("*") if path.is_file()}
    report.left_out = ("data",)
    writer.write(report, target, ["html", "json"])
    after = {path: path.stat().st_ino for path in target.rglob("*") if path.is_file()}
    new = {path.name for path in after if before.get(path) != after[path]}
    assert "files.html" in new and "report.json" in new
    assert not {name for name in new if name.endswith((".css", ".js"))}
    assert not any(path.parent.name == "files" and path.name in new for path in after)
    assert not list(target.rglob("*draft*"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_who_writes_a_report_again_keeps_its_language_and_prefix(report, tmp_path, language):
    """As a run does that is put into it: report.json holds neither."""
    formats = ["html", "json", "text", "gitlab"]
    report.language, report.prefix = language, "src/"
    writer.write(report, tmp_path / "a", formats)
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()}
    again = merge.load(tmp_path / "a")
    assert (again.language, again.prefix) == (language, "src/")
    again.check = CHECK
    merge.write_again(again, tmp_path / "a")
    again.check = None
    merge.write_again(again, tmp_path / "a")
    after = {path.name: path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert {name: after[name] for name in before} == before


def test_pages_of_runs_go_with_the_runs_and_other_formats_stay(tmp_path: Path, report: Report) -> None:
    ran = replace(report, run=RUN, earlier_runs=[{**RUN, "script": "other.py"}])
    writer.write(ran, tmp_path, ["html", "json", "one-file", "csv"])
    assert {"runs.html", "run-2.html"} <= {path.name for path in tmp_path.iterdir()}
    writer.write(report, tmp_path, ["html"], keep=True)
    left = {path.name for path in tmp_path.glob("*.*")}
    assert not {"runs.html", "run-2.html"} & left
    assert {"index.html", "report.html", "report.json", "findings.csv"} <= left
    writer.write(ran, tmp_path, ["json"], keep=True)
    assert (tmp_path / "index.html").exists(), "pages stay where others are asked for"


def test_bytecode_that_python_writes_meanwhile_changes_no_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "_PACKAGE", tmp_path)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "page.py").write_text("")
    before = writer._digest(samples.sample(), ["json"])
    (tmp_path / "report" / "__pycache__").mkdir()
    (tmp_path / "report" / "__pycache__" / "page.cpython-311.pyc.4711").write_bytes(b"half of it")
    assert writer._digest(samples.sample(), ["json"]) == before
    (tmp_path / "report" / "page.py").write_text("1\n")
    assert writer._digest(samples.sample(), ["json"]) != before
