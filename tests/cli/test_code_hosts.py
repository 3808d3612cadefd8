"""Formats for code hosts on the command line, and the hooks for pre-commit."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
# pre-commit's own manifest schema (pre_commit/clientlib.py): keys, their types, and what is required.
STRINGS = {"type": "array", "items": {"type": "string"}}
MANIFEST = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "name", "entry", "language"],
        "additionalProperties": False,
        "properties": {
            **{name: {"type": "string"} for name in ("id", "name", "entry", "alias", "files", "exclude", "description")},
            "language": {"enum": ["python", "system", "script", "node", "docker", "docker_image", "pygrep", "fail"]},
            **{name: {"type": "boolean"} for name in ("always_run", "fail_fast", "pass_filenames", "require_serial", "verbose")},
            **dict.fromkeys(("types", "types_or", "exclude_types", "args", "stages", "additional_dependencies"), STRINGS),
        },
    },
}


@pytest.fixture
def checkout(project, tmp_path, monkeypatch):
    (project / "todo.py").write_text("import tensorflow as tf\ne = tf.estimator.Estimator(**a)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_github_commands_stand_in_the_output_with_paths_of_the_checkout(tool, checkout):
    done = tool("scan", "src", "--format", "github")
    assert done.code == 1
    warnings = [line for line in done.out.split("\n") if line.startswith("::warning ")]
    assert len(warnings) == 1
    assert warnings[0].startswith("::warning file=src/todo.py,line=2,endLine=2,")
    assert not (checkout / "tf2npu-report").exists()


def test_gitlab_and_junit_are_files(tool, checkout):
    tool("scan", "src", "--format", "gitlab,junit,json", "--report", "rep")
    entries = json.loads((checkout / "rep" / "gl-code-quality-report.json").read_text())
    assert "src/todo.py" in {entry["location"]["path"] for entry in entries}
    assert (checkout / "rep" / "junit.xml").read_text().startswith("<?xml")


def test_one_of_them_rendered_again_goes_to_stdout(tool, checkout):
    tool("scan", "src", "--format", "json", "--report", "rep")
    again = tool("report", "rep/report.json", "--format", "gitlab", "--prefix", "src")
    assert "src/todo.py" in {entry["location"]["path"] for entry in json.loads(again.out)}
    assert "::warning file=todo.py," in tool("report", "rep/report.json", "--format", "github").out


def test_the_hooks_keep_pre_commits_schema_and_do_what_they_say(checkout, monkeypatch):
    hooks = yaml.safe_load(HOOKS.read_text())
    jsonschema.validate(hooks, MANIFEST)
    monkeypatch.chdir(checkout / "src")
    main = [sys.executable, "-c", "from tf2npu.cli import main; main()"]
    for hook in hooks:
        words = hook["entry"].split()
        assert words[0] == "tf2npu"
        done = subprocess.run([*main, *words[1:]], capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
