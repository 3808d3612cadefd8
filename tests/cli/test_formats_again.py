"""`tf2npu report` makes each format from report.json byte for byte as the conversion did."""

import json
from pathlib import Path

import pytest

from tests.decisions.made import decided_of
from tests.report.test_json import CHECK, RUN, VALIDATOR
from tf2npu.report import manifest, writer
from tf2npu.report.formats import as_json, as_xlsx
from tf2npu.report.writer import FORMATS, is_text
from tf2npu.runs import merge
from tf2npu.runs.carry_over import sources_digest
from tf2npu.runs.stale_files import digest

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


def files_of(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


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
    report = merge.load(checkout / "rep")
    report.run = RUN
    merge.write_again(report, checkout / "rep")
    after = files_of(checkout / "rep")
    assert after.keys() - before.keys() == {"runs.html"} and before.keys() <= after.keys()
    changed = {name for name in before if before[name] != after[name]}
    about_findings = {"report.sarif", "gl-code-quality-report.json", "junit.xml", "findings.csv"}
    assert {"index.html", "report.json", "report.txt", "report.md"} <= changed and not changed & about_findings
    assert ("report.xlsx" in changed) == as_xlsx.is_possible()


GRAPH = "import tensorflow as tf\nx = tf.placeholder(tf.float32, [None])\ny = tf.py_func(f, [x], tf.float32)\n"


def run_on(out: Path, script: str) -> dict:
    """A run of one of the converted files, which says something of its lines."""
    at = {"path": script, "line": 3}
    host = {"place": f"{script}:3", "at": at, "reason": "Python <b>", "count": 2, "example": "PyFunc", "is_expected": True,
            "finding": {"rule": "NPU912", **at}}  # fmt: skip
    shapes = {"input": "x:0", "lines": [{"path": script, "line": 2}], "count": 3, "shapes": ["[4]", "[5]"], "steps": 9}
    reached = {"path": script, "reached": [[n, n] for n in (1, 2, 3)], "not_reached": []}
    return {**RUN, "script": script, "files": {script: digest(str(out), script)}, "host_lines": [host], "device_lines": [],
            "input_lines": [shapes], "reached_files": [reached], "session_lines": []}  # fmt: skip


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_with_runs_decisions_a_baseline_and_a_check_they_are_the_first_runs_bytes_as_well(tool, checkout, language):
    """Everything that a report can hold at once; the last conversion takes over the runs and the check."""
    for name in ("graph.py", "other.py"):
        (checkout / "src" / name).write_text(GRAPH)
    options = ("--report", "first", "--lang", language)
    tool("convert", "src", "out", *options, "--baseline", "known.json", "--write-baseline", "--exclude", "graph.py")
    tool("convert", "src", "out", *options)
    report = merge.load(checkout / "first")
    report.run, report.earlier_runs = run_on(checkout / "out", "graph.py"), [run_on(checkout / "out", "other.py")]
    report.check = {**CHECK, "sources": sources_digest(report)}
    merge.write_again(report, checkout / "first")
    (checkout / "d.toml").write_text(decided_of(checkout / "first", {"NPU912": "accept", "NPU601": "suppress"}, who="=Ann <b>"))
    words = ("--format", ",".join(POSSIBLE), "--decisions", "d.toml", "--baseline", "known.json")
    done = tool("convert", "src", "out", *options, *words)
    first = files_of(checkout / "first")
    document = json.loads(first["report.json"])
    VALIDATOR.validate(document)
    assert document["run"]["script"] == "graph.py" and len(document["earlier_runs"]) == 1 and document["check"]
    assert done.code == 0, "all is decided or known"
    assert "changed_files" not in document["run"]
    found = [finding for file in document["files"] for finding in file["findings"]]
    assert any("answer" in finding for finding in found) and any("known" in finding for finding in found)
    for text in ("findings.csv", "report.sarif", "report.txt", "files.html"):
        assert first[text]
    assert b"confirmed" in first["findings.csv"] and b"tf2npu/mark" in first["report.sarif"]
    again = ("--prefix", "src", "--lang", language)
    assert tool("report", "first/report.json", "--format", ",".join(POSSIBLE), "--report", "again", *again).code == 0
    assert files_of(checkout / "again") == first
    for chosen, name in FILES.items():
        alone = tool("report", "first/report.json", "--format", chosen, *again)
        assert alone.out.encode("utf-8", "surrogateescape") == first[name], chosen
    assert done.out.endswith(tool("report", "first/report.json", "--format", "github", *again).out)


@pytest.mark.whole(beyond=3)
@pytest.mark.parametrize("chosen", [name for name in POSSIBLE if name != "github"])
def test_each_format_alone_is_written_as_with_all_others(tool, checkout, chosen):
    tool("convert", "src", "out", "--format", ",".join(POSSIBLE), "--report", "first")
    report = as_json.read(checkout / "first" / "report.json")
    report.prefix, report.paths = "src/", manifest.load(checkout / "first").paths
    writer.write(report, checkout / "alone", [chosen])
    first, alone = files_of(checkout / "first"), files_of(checkout / "alone")
    assert len(alone) > 1 and {name: first[name] for name in alone} == alone


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


@pytest.mark.parametrize(("language", "said"), [("en", "report: "), ("zh", "报告： ")])
def test_where_a_report_is_stands_in_its_language(tool, tmp_path, language, said):
    (tmp_path / "train.py").write_text("import tensorflow as tf\ntf.Session()\n")
    scanned = tool("scan", tmp_path / "train.py", "--report", tmp_path / "one", "--lang", language)
    again = tool("report", tmp_path / "one" / "report.json", "--format", "html", "--report", tmp_path / "two", "--lang", language)
    assert f"{said}{tmp_path / 'one'}" in scanned.out and again.out == f"{said}{tmp_path / 'two'}\n"


def test_what_is_left_out_stands_in_the_language(tool, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("import tensorflow as tf\ntf.Session()\n")
    tool("scan", tmp_path / "src", "--report", tmp_path / "src" / "earlier")
    assert "未转换也未复制：earlier/" in tool("convert", tmp_path / "src", tmp_path / "out", "--lang", "zh").out
