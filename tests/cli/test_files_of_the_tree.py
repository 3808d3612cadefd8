"""Settings and lists that a tree brings along: whatever stands in them costs one clear line, or nothing, and never the run."""

import json
import os

import pytest

from npu_formats.files import bounded_read
from tests.cli.test_convert import file_in, report_of

DEEP = 5000
WRONG_SETTINGS = {
    "a set that is none": ('exclude = ["foo[z-a]"]', "exclude"),
    "a pattern of nothing": ('exclude = ["!"]', "exclude"),
    "lists in lists": (f"x = {'[' * DEEP}{']' * DEEP}", "nested too deeply"),
    "tables in tables": (f"x = {'{a=' * DEEP}1{'}' * DEEP}", "nested too deeply"),
    "many digits": (f"x = {'9' * 10_000}", "digits"),
    "no such day": ("x = 2026-99-99", "line 2"),
    "a long name": (f'main = "{"a" * 5000}"', "main"),
    "an absolute name": ('main = "/etc/passwd"', "main"),
    "a name above": ('main = "../../etc/passwd"', "main"),
    "no name": ('main = ""', "main"),
    "a name with a zero": ('main = "a\\u0000.py"', "main"),
    "a long value": (f'distributed = "{"a" * 100_000}"', "distributed"),
    "a long key": (f"{'a' * 100_000} = 1", "unknown key"),
    "an escape in a key": ('"\\u001b[31mX" = 1', "unknown key"),
}


def wrong_settings(name: str) -> str:
    return f"[tool.tf2npu]\n{WRONG_SETTINGS[name][0]}\n"


@pytest.mark.parametrize("name", WRONG_SETTINGS)
def test_a_wrong_pyproject_is_one_line_that_names_the_file(tool, project, tmp_path, name):
    (project / "pyproject.toml").write_text(wrong_settings(name))
    done = tool("convert", project, tmp_path / "out")
    assert (done.code, done.err.count("\n"), done.out) == (2, 1, ""), done.err
    assert "pyproject.toml" in done.err and WRONG_SETTINGS[name][1] in done.err
    assert len(done.err) < 1000 and "\x1b" not in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("name", WRONG_SETTINGS)
def test_a_wrong_pyproject_deeper_in_the_tree_is_data(tool, project, tmp_path, name):
    (project / "pkg" / "pyproject.toml").write_text(wrong_settings(name))
    assert tool("convert", project, tmp_path / "out").code == 0


@pytest.mark.parametrize("pattern", ["foo[z-a]", "!", "[b-a]x", "\\"])
def test_a_wrong_pattern_on_the_command_line_is_one_line(tool, project, tmp_path, pattern):
    done = tool("convert", project, tmp_path / "out", "--exclude", pattern)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--exclude" in done.err


def test_a_wrong_line_of_gitignore_costs_that_line(tool, project, tmp_path, session_source):
    (project / "made.py").write_text(session_source)
    (project / ".gitignore").write_bytes(b"foo[z-a].txt\n[b-a]\n!\n\\\n\x00\n\xff[z-a]\nmade.py\n")
    assert tool("convert", project, tmp_path / "out").code == 0
    document = report_of(tmp_path / "out" / "tf2npu-report")
    assert file_in(document, "made.py")["status"] == "copied"
    assert file_in(document, "train.py")["status"] == "converted"


def test_a_wrong_main_is_one_line(tool, project, tmp_path):
    for main in ("a" * 5000, "../train.py", str(project / "train.py"), "nowhere.py"):
        done = tool("convert", project, tmp_path / "out", "--main", main)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "main" in done.err


class TestTooLarge:
    def test_a_pyproject_is_refused_with_its_limit(self, tool, project, tmp_path):
        with open(project / "pyproject.toml", "w") as stream:
            stream.truncate(1 << 43)
        done = tool("convert", project, tmp_path / "out")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "pyproject.toml" in done.err and "1 MB" in done.err

    @pytest.mark.parametrize("name", [".gitignore", "pkg/.gitignore", "pkg/pyproject.toml", "pkg/setup.cfg"])
    def test_others_are_passed_over(self, tool, project, tmp_path, name, caplog):
        with open(project / name, "w") as stream:
            stream.truncate(1 << 43)
        assert tool("convert", project, tmp_path / "out", "--data", "skip").code == 0
        assert len(caplog.messages) == name.endswith(".gitignore")
        assert "config=npu_config_proto()" in (tmp_path / "out" / "train.py").read_text()

    @pytest.mark.parametrize("name", ["big.py", "setup.py", "big.ipynb"])
    def test_a_source_counts_as_data(self, tool, project, tmp_path, name):
        with open(project / name, "w") as stream:
            stream.truncate(1 << 43)
        assert tool("convert", project, tmp_path / "out").code == 0
        file = file_in(report_of(tmp_path / "out" / "tf2npu-report"), name)
        assert file["status"] == "copied"
        assert {f["message"].split(":")[0] for f in file["findings"]} == {"larger than 128 MB", "8388608.0 MB of data"}
        assert (tmp_path / "out" / name).is_symlink()

    def test_a_baseline_and_a_report_are_refused(self, tool, project, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with open("big.json", "w") as stream:
            stream.truncate(1 << 43)
        for words in (("scan", project, "--baseline", "big.json"), ("report", "big.json")):
            done = tool(*words)
            assert (done.code, done.err.count("\n")) == (2, 1)
            assert "big.json" in done.err and "larger than" in done.err


class TestPipesAndDevices:
    @pytest.mark.parametrize("name", ["pyproject.toml", ".gitignore", "pkg/setup.cfg", "pkg/pyproject.toml", "pkg/.gitignore"])
    def test_in_the_tree_they_are_passed_over(self, tool, project, tmp_path, name):
        os.mkfifo(project / name)
        assert tool("convert", project, tmp_path / "out").code == 0

    @pytest.mark.parametrize("special", ["pipe", "/dev/zero", "/dev/null"])
    def test_on_the_command_line_they_are_refused(self, tool, project, tmp_path, special, monkeypatch):
        monkeypatch.chdir(tmp_path)
        os.mkfifo("pipe")
        for words in (("scan", project, "--baseline", special), ("report", special)):
            done = tool(*words)
            assert (done.code, done.err.count("\n")) == (2, 1)
            assert special in done.err and "no regular file" in done.err

    def test_a_file_that_becomes_a_pipe_meanwhile_does_not_hang(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="no regular file"):
            bounded_read.read_at_most(tmp_path / "pipe", 10)


ENTRIES = "[options.entry_points]\nconsole_scripts"
SETUP_CFG = (
    f"{ENTRIES}\n  go on\n", f"{ENTRIES} = %(x)s\n  a=b:c\n[metadata\n", f"{ENTRIES} =\n  a=train:{'x' * 10_000}",
    f"{ENTRIES} =\n" + "  a=b:c[\n" * 50_000, "[metadata\n", "x = 1\n", "[a]\n[a]\n%(x)s = %(y)s\n", "\0", "[a]\r\n  = b\n",
    "[DEFAULT]\nconsole_scripts\n", "[" * 100_000,
)  # fmt: skip


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("text", SETUP_CFG, ids=range(len(SETUP_CFG)))
def test_a_setup_cfg_of_any_kind_is_data(tool, project, tmp_path, text):
    (project / "setup.cfg").write_text(text)
    (project / "setup.py").write_text(f"from setuptools import setup\nsetup(entry_points={text!r}, **d)\n")
    assert tool("convert", project, tmp_path / "out").code == 0


BASELINES = [
    "[]", "{}", "null", '"x"', "1", "[" * 100_000, "9" * 5000, '{"tool":"tf2npu","version":1}',
    *(json.dumps({"tool": "tf2npu", "version": 1, "findings": found}) for found in
      ({}, None, "x", [1], [None], [{}], [[[]]], [{"fingerprint": 1}], [{"fingerprint": []}], [{"fingerprint": None}])),
    '{"tool":"tf2npu","version":true,"findings":[]}', '{"tool":["tf2npu"],"version":1,"findings":[]}', "NaN",
]  # fmt: skip


@pytest.mark.parametrize("text", BASELINES, ids=range(len(BASELINES)))
def test_a_damaged_baseline_is_one_line(tool, project, tmp_path, text, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.json").write_text(text)
    done = tool("scan", project, "--baseline", "base.json")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "base.json" in done.err and "baseline" in done.err and len(done.err) < 300


def test_a_baseline_that_is_no_utf_8_is_one_line(tool, project, tmp_path):
    (tmp_path / "base.json").write_bytes(b"\xff\xfe{}")
    done = tool("scan", project, "--baseline", tmp_path / "base.json", "--report", tmp_path / "rep")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_more_on_stdin_than_is_read(tool, monkeypatch):
    monkeypatch.setattr("tf2npu.commands.convert.MOST_SOURCE_BYTES", 1 << 20)
    done = tool("convert", "-", stdin=b"x = 1\n" * 200_000)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "stdin" in done.err and "1 MB" in done.err


def test_a_report_that_cannot_be_written_again_is_one_line(tool, project, tmp_path):
    tool("convert", project, tmp_path / "out")
    (tmp_path / "file").write_text("")
    report = tmp_path / "out" / "tf2npu-report" / "report.json"
    done = tool("report", report, "--format", "html", "--report", tmp_path / "file" / "below")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot be written" in done.err
