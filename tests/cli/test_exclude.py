"""`--exclude`, `exclude` in pyproject.toml and .gitignore: not converted, still in the output, never silent."""

import pytest

from tests.cli.test_convert import file_in, report_of, tree


def test_what_is_excluded_is_copied_as_it_is_and_named(tool, project, tmp_path, session_source):
    (project / "pkg" / "old.py").write_text(session_source)
    (project / "gen").mkdir()
    (project / "gen" / "made.py").write_text(session_source)
    (project / ".gitignore").write_text("gen/\n*.bin\n")
    done = tool("convert", project, tmp_path / "out", "--exclude", "old.py")
    assert done.code == 0
    before, after = tree(project), tree(tmp_path / "out")
    assert {name for name in before if before[name] != after[name]} == {"train.py"}
    document = report_of(tmp_path / "out" / "tf2npu-report")
    said = {f["path"]: [(n["rule"], n["level"], n["message"]) for n in f["findings"]] for f in document["files"]}
    assert said["pkg/old.py"] == [("NPU009", "skipped", "exclude old.py: not converted")]
    assert said["gen/made.py"] == [("NPU009", "skipped", ".gitignore: gen/: not converted")]
    assert said["data.bin"] == []
    assert file_in(document, "pkg/old.py")["status"] == "copied"


def test_gitignore_can_be_disregarded(tool, project, tmp_path):
    (project / ".gitignore").write_text("*.py\n")
    assert tool("convert", project, "--check").code == 0
    assert tool("convert", project, "--check", "--no-gitignore").code == 1
    (project / "pyproject.toml").write_text("[tool.tf2npu]\nrespect-gitignore = false\n")
    assert tool("convert", project, "--check").code == 1


def test_the_command_line_adds_to_the_settings(tool, project, session_source):
    (project / "two.py").write_text(session_source)
    (project / "pyproject.toml").write_text("[tool.tf2npu]\nexclude = ['train.py']\n")
    assert tool("convert", project, "--check").code == 1
    assert tool("convert", project, "--check", "--exclude", "/two.py").code == 0


@pytest.mark.parametrize("words", [("--diff",), ("--in-place",)])
def test_in_every_way_to_convert(tool, project, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    before = tree(project)
    done = tool("convert", project, *words, "--exclude", "*.py")
    assert "Session" not in done.out
    assert tree(project) == before


def test_a_file_that_is_named_is_converted(tool, project, tmp_path):
    assert tool("convert", project / "train.py", "--check", "--exclude", "*.py").code == 1


def test_a_pattern_that_means_nothing(tool, project, tmp_path):
    done = tool("convert", project, tmp_path / "out", "--exclude", "!")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert not (tmp_path / "out").exists()
