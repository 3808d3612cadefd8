"""Shell scripts that start a project's scripts: which are seen, where they are typed, and that the told command runs them."""

import json
import os
import shutil
import subprocess
from html import unescape
from pathlib import Path

import jsonschema
import pytest

from tests.report.test_json import SCHEMA
from tf2npu.config import Config
from tf2npu.findings import EntryScript
from tf2npu.project import launchers
from tf2npu.project.conversion import convert_project
from tf2npu.project.launchers import launcher
from tf2npu.project.request import Request
from tf2npu.report.formats import as_json
from tf2npu.report.html import as_html
from tf2npu.report.model.build import build
from tf2npu.report.work.entry_scripts import commands, entries
from tf2npu.report.work.next_steps import next_steps

KNOWN = {
    path: EntryScript(path, "guard", path == "train.py") for path in ("train.py", "a/eval.py", "a/train.py", "pkg/__main__.py")
}
SCRIPT = "import tensorflow as tf\nif __name__ == '__main__':\n    open('ran', 'w').close()\n    s = tf.Session()\n"


@pytest.mark.parametrize(
    ("path", "text", "runs", "folder"),
    [
        ("run.sh", "python train.py --batch 8\n", ["train.py"], ""),
        ("run.sh", "set -e\nexport X=1; CUDA_VISIBLE_DEVICES=0 nohup python3.7 -u ./train.py > log 2>&1 &\n", ["train.py"], ""),
        ("a/run.sh", "python train.py\n", ["a/train.py"], "a"),
        ("scripts/run.sh", "python train.py\n", ["train.py"], ""),
        ("scripts/run.sh", "cd ..\npython train.py\n", ["train.py"], "scripts"),
        ("test/run.sh", 'cur=`pwd`\npython3 "${cur}/../train.py" \\\n  --steps 3\n', ["train.py"], "test"),
        ("test/run.sh", 'python3 $(dirname "$0")/../a/eval.py\n', ["a/eval.py"], "test"),
        ("run.sh", "mpirun -np 8 python a/train.py\npython a/eval.py\npython a/eval.py --all\n", ["a/train.py", "a/eval.py"], ""),
        ("run.sh", "python -m pkg --x\n", ["pkg/__main__.py"], ""),
        ("run.sh", "python -W ignore -m a.eval\n", ["a/eval.py"], ""),
    ],
)  # fmt: skip
def test_what_a_launcher_starts_and_where(path, text, runs, folder):
    found = launcher(path, text, KNOWN)
    assert (list(found.runs), found.folder) == (runs, folder) if runs else found is None
    assert found is None or found.trains == ("train.py" in runs)


@pytest.mark.parametrize(
    "text",
    [
        "# python train.py\n", "python -c 'import train'\n", "python other.py\n", "python /data/train.py\n", "echo train.py\n",
        "python $SCRIPT\n", "python\n", "cpython train.py\n", "python ../train.py\n", "python " + "-u " * 30 + "train.py\n", "",
        "python '" * 5_000, "$(" * 5_000 + "python train.py", "\0python\0train.py",
    ],
)  # fmt: skip
def test_what_starts_no_known_script_is_no_launcher(text):
    assert launcher("run.sh", text, KNOWN) is None


def report_of(folder: Path):
    done = convert_project(Request(folder, Config(), use_cache=False))
    return build(done.results, command="convert", entries=done.entries, imports=done.imports)


@pytest.mark.parametrize("name", ["a b/it's.sh", "-x.sh", "$(touch made).sh", "d;e/`id`.sh", "new\nline.sh", "-f/run.sh"])
@pytest.mark.parametrize("moves", [False, True])
def test_the_told_command_runs_the_launcher_in_its_folder(tmp_path, name, moves):
    source = tmp_path / "s"
    (source / name).parent.mkdir(parents=True, exist_ok=True)
    (source / name).write_text(f"{'cd .' if moves else ':'}\npython3 train.py\n")
    script = source / name if moves else source / "x"
    (script.parent / "train.py").write_text(
        SCRIPT.replace("import tensorflow as tf", "import builtins as tf").replace("tf.Session()", "1")
    )
    known = {(script.parent / "train.py").relative_to(source).as_posix(): EntryScript("train.py", "guard", True)}
    found = launcher(name, (source / name).read_text(), known)
    line = commands(build([]), found)[1].text
    assert "bash" in line
    environment = {**os.environ, "PATH": f"{Path(shutil.which('python3')).parent}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", line], cwd=source, env=environment, check=True)
    assert (script.parent / "ran").exists()
    assert not (source / "made").exists()


def test_the_overview_shows_launchers_and_notebooks_with_their_commands(tmp_path):
    (tmp_path / "test").mkdir()
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "test" / "full.sh").write_text("cd ..\npython3 train.py\n")
    (tmp_path / "other.sh").write_text("ls\n")
    cell = '{"cells": [{"cell_type": "code", "source": ["import tensorflow as tf\\n", "s = tf.Session()"]}], "metadata": {}, '
    (tmp_path / "a nb.ipynb").write_text(cell + '"nbformat": 4, "nbformat_minor": 5}')
    report = report_of(tmp_path)
    assert [(e.path, e.starts, e.runs) for e in report.entries] == [
        ("train.py", "guard", ()), ("a nb.ipynb", "notebook", ()), ("test/full.sh", "launcher", ("train.py",)),
    ]  # fmt: skip
    jsonschema.validate(json.loads(as_json.render(report)), SCHEMA)
    again = as_json.load(as_json.render(report))
    assert again.entries == report.entries
    pages = {name: unescape(text) for name, text in as_html.Pages(again).texts()}
    for name in ("index.html", "scripts.html"):
        assert "cd test && tf2npu run full.sh" in pages[name], name
        assert "jupyter nbconvert --to notebook --execute 'a nb.ipynb'" in pages[name], name
    assert "cd test && bash full.sh" in pages["index.html"]
    assert "It starts train.py. Converted; no run has been recorded." in pages["index.html"]
    assert "a shell script that starts others" in pages["index.html"]


def test_a_launcher_is_proven_as_far_as_the_script_of_which_least_is_known(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "run.sh").write_text("python train.py\n")
    report = report_of(tmp_path)
    assert [(e.script.path, e.rung) for e in entries(report)] == [("train.py", 1), ("run.sh", 1)]
    report.run = {"script": "train.py", "steps": 3, "exit_code": 0}
    assert [(e.script.path, e.rung) for e in entries(report)] == [("train.py", 2), ("run.sh", 2)]
    assert entries(report)[1].evidence == "It starts train.py. A run made 3 session runs on the simulated device."


FAILED = ", and ended with exit code 1"


@pytest.mark.parametrize(
    ("run", "rung", "evidence"),
    [
        ({"steps": 7, "training_steps": 3, "exit_code": 0}, 3, "A run trained for 3 steps on the simulated device."),
        ({"steps": 7, "training_steps": 0, "exit_code": 0}, 2, "A run made 7 session runs on the simulated device."),
        ({"steps": 7, "training_steps": 3, "exit_code": 1}, 2, f"A run made 3 steps on the simulated device{FAILED}."),
        ({"steps": 7, "exit_code": 0}, 2, "A run made 7 session runs on the simulated device."),
        ({"steps": 0, "training_steps": 0, "exit_code": 1}, 1, "A run ended with exit code 1 before its first step."),
    ],
)  # fmt: skip
def test_only_training_steps_show_that_a_script_trains(tmp_path, run, rung, evidence):
    (tmp_path / "train.py").write_text(SCRIPT)
    report = report_of(tmp_path)
    report.run = {"script": "train.py", **run}
    assert [(entry.rung, entry.evidence) for entry in entries(report)] == [(rung, evidence)]


def test_the_next_step_is_a_run_that_is_recorded(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "a.sh").write_text("python train.py\n")
    report = report_of(tmp_path)
    steps = next_steps(report, [], entries(report)[::-1])
    assert [step.command for step in steps] == ["tf2npu run --report tf2npu-report train.py"]


def test_launchers_that_are_not_looked_at_are_told(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(launchers, "_MOST_LAUNCHERS", 2)
    (tmp_path / "train.py").write_text(SCRIPT)
    for name in ("a.sh", "b.sh", "c.sh"):
        (tmp_path / name).write_text("python train.py\n")
    assert [entry.path for entry in report_of(tmp_path).entries] == ["train.py", "a.sh", "b.sh"]
    assert "3 shell scripts are more than are looked at" in caplog.text
