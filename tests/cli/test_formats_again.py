"""`tf2npu report` makes each format from report.json byte for byte as the conversion did."""

from pathlib import Path

import pytest

from tests.report.test_json import RUN
from tf2npu import run_report
from tf2npu.report import as_xlsx
from tf2npu.report.folder import FORMATS, is_text

WORK = "import tensorflow as tf\nd = tf.data.Dataset.range(10).batch(3)\ne = tf.estimator.Estimator(**a)\n=\n"
POSSIBLE = [name for name in FORMATS if name != "xlsx" or as_xlsx.is_possible()]
FILES = {
    "json": "report.json", "sarif": "report.sarif", "text": "report.txt", "gitlab": "gl-code-quality-report.json",
    "junit": "junit.xml", "md": "report.md", "csv": "findings.csv",
}  # fmt: skip


@pytest.fixture
def checkout(project, tmp_path, monkeypatch):
    """A project with every kind of file: converted, with work, hostile in its name, broken."""
    (project / "todo.py").write_text(WORK.removesuffix("=\n"))
    (project / "=1+1 <b>@all.py").write_text(WORK.removesuffix("=\n"))
    (project / "broken.py").write_text(WORK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_format_from_json_is_the_first_runs_bytes(tool, checkout, language):
    done = tool("convert", "src", "out", "--format", ",".join(POSSIBLE), "--report", "first", "--lang", language)
    assert done.code == 3
    first = files_of(checkout / "first")
    again = ("--prefix", "src", "--lang", language)
    assert tool("report", "first/report.json", "--format", ",".join(POSSIBLE), "--report", "again", *again).code == 0
    assert files_of(checkout / "again") == first
    for chosen, name in FILES.items():
        alone = tool("report", "first/report.json", "--format", chosen, *again)
        assert alone.code == 0
        assert alone.out.encode("utf-8", "surrogateescape") == first[name], chosen
    commands = tool("report", "first/report.json", "--format", "github", *again).out
    assert commands and done.out.endswith(commands)
    assert set(FILES) | {"github"} == {name for name in FORMATS if is_text(name)}


def test_what_a_run_adds_goes_into_every_format_that_is_there(tool, checkout, monkeypatch):
    monkeypatch.chdir(checkout / "src")
    chosen = [name for name in POSSIBLE if name != "github"]
    tool("scan", ".", "--format", ",".join(chosen), "--report", checkout / "rep")
    before = files_of(checkout / "rep")
    report = run_report.load(checkout / "rep")
    report.run = RUN
    run_report.write_again(report, checkout / "rep")
    after = files_of(checkout / "rep")
    assert after.keys() - before.keys() == {"runs.html"} and before.keys() <= after.keys()
    changed = {name for name in before if before[name] != after[name]}
    about_findings = {"report.sarif", "gl-code-quality-report.json", "junit.xml", "findings.csv"}
    assert {"index.html", "report.json", "report.txt", "report.md"} <= changed and not changed & about_findings
    assert ("report.xlsx" in changed) == as_xlsx.is_possible()


def test_formats_that_are_no_text_go_into_the_folder(tool, checkout):
    tool("scan", "src", "--format", "json", "--report", "rep")
    for chosen in POSSIBLE:
        if not is_text(chosen):
            done = tool("report", "rep/report.json", "--format", chosen)
            assert (done.code, done.out) == (0, "report: rep\n")
    assert (checkout / "rep" / "index.html").is_file()


def test_without_openpyxl_the_command_names_what_to_install(tool, checkout, monkeypatch):
    monkeypatch.setattr(as_xlsx, "find_spec", lambda name: None)
    done = tool("scan", "src", "--format", "json,xlsx", "--report", "rep")
    assert done.code == 2
    assert "openpyxl" in done.err and as_xlsx.INSTALL in done.err
    assert "Traceback" not in done.err
    assert not (checkout / "rep").exists()
