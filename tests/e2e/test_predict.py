"""`predict` from outside; the device's side is played by scripts that write the document themselves."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from npu_formats.documents import prediction
from npu_formats.environment import TF2NPU_PREDICT
from tests.cli import conftest as cli_fixtures
from tests.prediction import samples

own_folders, tool = cli_fixtures.own_folders, cli_fixtures.tool
WRITER = f"""
import json, os, sys
request = json.loads(os.environ[{TF2NPU_PREDICT!r}])
print("from the script")
made = json.loads(open(os.environ["MADE"]).read())
made["subject"] = json.dumps([request, sys.argv[1:], os.getcwd(), os.environ.get("PYTHONPATH", "")])
made["tasks"][0]["source"] = __file__ + ":" + str(LINE)
open(request["out"], "w").write(json.dumps(made))
sys.exit(EXIT)
"""


@pytest.fixture
def made(tmp_path, monkeypatch) -> Path:
    """The document that the scripts write."""
    path = tmp_path / "made.json"
    path.write_text("".join(prediction.pieces(prediction.of_steps([samples.step()], "prediction", ""))))
    monkeypatch.setenv("MADE", str(path))
    return path


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A folder that is the current one, and one with scripts of TensorFlow 1."""
    here, scripts = tmp_path / "here", tmp_path / "scripts"
    here.mkdir()
    scripts.mkdir()
    monkeypatch.chdir(here)
    plain = "import tensorflow as tf\nLINE, EXIT = 2, 0\nif 0:\n    s = tf.Session()\nimport os, beside\n"
    plain += "open(os.path.join(os.path.dirname(__file__), 'data.txt')).read()\nassert os.getcwd() == beside.HERE\n"
    (scripts / "beside.py").write_text(f"HERE = {str(here)!r}\n")
    (scripts / "data.txt").write_text("data")
    (scripts / "plain.py").write_text(plain + WRITER)
    (scripts / "migrated.py").write_text("import npu_bridge\nLINE, EXIT = 2, 0\n" + WRITER)
    (scripts / "ends.py").write_text("import npu_bridge\nimport sys\nsys.exit(5)\n")
    (scripts / "fails_later.py").write_text("import npu_bridge\nLINE, EXIT = 1, 7\n" + WRITER)
    (scripts / "damaged.py").write_text(
        f"import npu_bridge, json, os\nopen(json.loads(os.environ[{TF2NPU_PREDICT!r}])['out'], 'w').write('[')\n"
    )
    return scripts


@pytest.fixture
def plain(project) -> Path:
    """A folder where nothing is migrated."""
    for name in ("migrated", "ends", "fails_later", "damaged"):
        (project / f"{name}.py").unlink()
    return project


def asked(path: Path) -> list:
    return json.loads(json.loads(path.read_text())["subject"])


class TestPredict:
    def test_the_text_is_on_stdout_and_the_script_on_stderr(self, tool, project, made):
        done = tool("predict", project / "migrated.py")
        assert done.code == 0, done.err
        assert "one training step as predicted for Ascend910A" in done.out and "from the script" not in done.out
        assert "from the script" in done.err

    @pytest.mark.whole
    def test_what_is_asked_reaches_the_script(self, tool, project, made, tmp_path):
        done = tool(
            "predict", "--soc", "Ascend 910, ascend910b1", project / "migrated.py", "--lr", "0.1", "--steps", "5",
            "--batch", "32", "64", "--precision", "allow_mix_precision", "--iterations-per-loop", "10", "--shapes-only",
            "--json", "p.json", "--", "--steps", "9",
        )  # fmt: skip
        assert done.code == 0, done.err
        request, words, folder, _ = asked(Path("p.json"))
        assert words == ["--lr", "0.1", "--steps", "9"] and folder == os.getcwd()
        assert request.pop("out").endswith("prediction.json")
        assert request == {
            "socs": ["Ascend910A", "Ascend910B1"], "steps": 5, "batch": [32, 64], "precision": "allow_mix_precision",
            "iterations_per_loop": 10, "shapes_only": True, "devices": [],
        }  # fmt: skip

    def test_a_plain_script_is_converted_and_its_own_lines_are_named(self, tool, plain, made, monkeypatch, tmp_path):
        before = sorted(plain.rglob("*"))
        monkeypatch.setenv("PYTHONPATH", str(plain))
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        (tmp_path / "tmp").mkdir()
        done = tool("predict", plain / "plain.py", "--json", "p.json", "--report", "rep")
        assert done.code == 0, done.err
        assert "converted for this run: 1 of the files" in done.err
        found = json.loads(Path("p.json").read_text())
        request, _, folder, search_path = asked(Path("p.json"))
        assert folder == os.getcwd() and not Path(request["out"]).parent.exists()
        assert "/converted/" in search_path and search_path.endswith(plain.name)
        path, line = found["tasks"][0]["source"].rsplit(":", 1)
        assert Path(path) == plain / "plain.py" and int(line) < 2  # line 2 of the copy is an import that was put in
        assert sorted(plain.rglob("*")) == before
        assert list((tmp_path / "tmp").iterdir()) == []
        state = Path(os.environ["XDG_STATE_HOME"]) / "tf2npu" / "trees"
        kept = [(entry / "path").read_text() for entry in state.iterdir()]
        assert not [path for path in kept if "converted" in path]

    @pytest.mark.whole
    def test_a_script_that_ends_too_early(self, tool, project, made):
        done = tool("predict", project / "ends.py", "--json", "p.json")
        assert done.code == 5 and done.out == "" and not Path("p.json").exists()
        assert "ends.py ended with exit code 5 before 3 steps of its training graph ran on the device: no prediction" in done.err

    def test_a_script_that_fails_after_it_was_predicted(self, tool, project, made):
        done = tool("predict", project / "fails_later.py")
        assert done.code == 0 and "ended with exit code 7 after it was predicted" in done.err

    @pytest.mark.whole
    def test_a_damaged_document_is_one_line(self, tool, project, made):
        done = tool("predict", project / "damaged.py")
        assert done.code == 2 and "cannot be read: it is no prediction" in done.err and "Traceback" not in done.err

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (("absent.py",), "absent.py: no such file"),
            ((), "name a SCRIPT"),
            (("S", "--soc", "Ascend999"), "--soc Ascend999: no chip is called 'Ascend999'"),
            (("S", "--soc", ","), "--soc ,: names no chip"),
            (("S", "--precision", "mixed"), "--precision mixed: use one of"),
            (("S", "--json", "absent/p.json"), "--json absent/p.json: there is no folder absent"),
            (("S", "--steps", "0"), "0 is not in the range"),
            (("S", "--batch", "x"), "'x' is not a valid integer"),
            (("S", "--batch"), "requires an argument"),
            (("--nonsense", "S"), "No such option"),
        ],
    )
    def test_a_wrong_command_is_one_line_and_runs_nothing(self, tool, project, made, words, reason):
        done = tool("predict", *(project / "migrated.py" if word == "S" else word for word in words))
        assert done.code == 2 and reason in done.err, done.err
        assert "from the script" not in done.err and "Traceback" not in done.err

    def test_a_page_of_somebody_elses_is_kept(self, tool, project, made):
        Path("rep").mkdir()
        (Path("rep") / "prediction.html").write_text("mine")
        done = tool("predict", project / "migrated.py", "--report", "rep")
        assert done.code == 2 and "exists and was not written by tf2npu" in done.err and "from the script" not in done.err
        assert (Path("rep") / "prediction.html").read_text() == "mine"

    @pytest.mark.whole
    def test_a_report_stands_beside_that_of_the_conversion(self, tool, project, made, tmp_path):
        tool("convert", project, tmp_path / "out", "--report", "rep")
        for _ in range(2):
            assert tool("predict", project / "migrated.py", "--report", "rep", "--lang", "zh").code == 0
        assert 'lang="zh"' in (Path("rep") / "prediction.html").read_text() and (Path("rep") / "index.html").exists()

    @pytest.mark.whole
    def test_a_link_is_not_written_through(self, tool, project, made, tmp_path):
        (tmp_path / "victim").write_text("mine")
        Path("p.json").symlink_to(tmp_path / "victim")
        assert tool("predict", project / "migrated.py", "--json", "p.json").code == 0
        assert (tmp_path / "victim").read_text() == "mine" and not Path("p.json").is_symlink()

    def test_a_project_that_is_too_large_is_not_copied(self, tool, plain, made, monkeypatch):
        monkeypatch.setattr("tf2npu.launch.temporary_conversion.MOST_ENTRIES", 2)
        for command, way_out in (
            ("predict", "predict OUT/plain.py"),
            ("check", f"check {plain}/plain.py --migrated OUT/plain.py"),
        ):
            done = tool(command, plain / "plain.py")
            assert done.code == 2 and "holds more than 2 files, too many to convert them for one run" in done.err
            assert f"then `tf2npu {way_out}`" in done.err

    @pytest.mark.whole
    def test_neither_virtual_environments_nor_outputs_make_a_project_large(self, tool, plain, made, monkeypatch):
        monkeypatch.setattr("tf2npu.launch.temporary_conversion.MOST_ENTRIES", 10)
        tool("convert", plain / "plain.py", plain / "out", "-q")
        for folder in (plain / "out/made", plain / "venv/lib"):
            folder.mkdir(parents=True)
            for number in range(20):
                (folder / f"{number}.py").write_text("")
        (plain / "venv/pyvenv.cfg").write_text("")
        done = tool("predict", plain / "plain.py", "--json", "p.json")
        assert done.code == 0 and "converted for this run: 1 of the files" in done.err, done.err

    @pytest.mark.whole
    def test_a_user_whose_state_cannot_be_kept_is_served_too(self, tool, plain, made, monkeypatch):
        monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
        done = tool("predict", plain / "plain.py", "--json", "p.json")
        assert done.code == 0, done.err

    @pytest.mark.whole
    def test_what_lies_beside_a_script_does_not_make_it_a_migrated_one(self, tool, plain, made):
        (plain / "another.py").write_text("import npu_bridge\n")
        for out in ("out", "out2"):
            tool("convert", plain / "plain.py", plain / out, "-q")
        done = tool("predict", plain / "plain.py", "--json", "p.json")
        assert done.code == 0 and "converted for this run: 1 of the files" in done.err, done.err

    def test_a_script_in_a_folder_that_is_not_converted_is_one_line(self, tool, plain, made):
        (plain / "venv").mkdir()
        for name in ("__init__.py", "venv/__init__.py", "venv/pyvenv.cfg"):
            (plain / name).write_text("")
        (plain / "plain.py").rename(plain / "venv/plain.py")
        done = tool("predict", plain / "venv/plain.py")
        assert done.code == 2 and "plain.py: lies in a folder that is never converted" in done.err

    @pytest.mark.whole
    def test_what_a_script_imports_makes_it_a_migrated_one(self, tool, plain, made):
        (plain / "beside.py").write_text((plain / "beside.py").read_text() + "import npu_bridge\n")
        done = tool("predict", plain / "plain.py")
        assert done.code == 0 and "converted for this run" not in done.err
        for words in (("check",), ("dump", "reference", "--out", "ref")):
            done = tool(*words, plain / "plain.py")
            assert done.code == 2 and f"plain.py imports npu_bridge by {plain}/beside.py: name the" in done.err, done.err

    def test_a_script_that_cannot_be_converted_is_one_line(self, tool, plain, made):
        (plain / "plain.py").write_text("import tensorflow as tf\nprint 'x'\n")
        done = tool("predict", plain / "plain.py")
        assert done.code == 2 and "plain.py: " in done.err and "Traceback" not in done.err

    def test_a_signal_ends_the_script_and_removes_the_temporary_files(self, plain, made, tmp_path):
        (plain / "plain.py").write_text(
            "import tensorflow as tf, sys, time\nif 0:\n    tf.Session()\nprint('READY')\ntime.sleep(600)\n"
        )
        own = tmp_path / "tmp"
        own.mkdir()
        command = [Path(sys.executable).with_name("tf2npu"), "predict", plain / "plain.py"]
        environment = {**os.environ, "TMPDIR": str(own), "PYTHONUNBUFFERED": "1"}
        running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        assert running.stderr is not None
        assert any("READY" in line for line in running.stderr)
        assert list(own.iterdir())
        running.send_signal(signal.SIGTERM)
        running.stderr.read()  # ends when the script has ended too, which holds it
        assert running.wait(timeout=60) == 128 + signal.SIGTERM
        assert list(own.iterdir()) == []

    @pytest.mark.whole
    def test_nothing_in_the_current_folder_takes_the_place_of_a_library(self, tool, project, made):
        Path("json.py").write_text("raise RuntimeError('shadowed')\n")
        assert tool("predict", project / "migrated.py").code == 0


@pytest.mark.whole
def test_the_examples_are_predicted_as_they_are(tool, tmp_path, monkeypatch):
    """A script of TensorFlow 1 finds its data beside its folder, is converted, runs for some steps, and is told of by line."""
    monkeypatch.chdir(tmp_path)
    script = Path(__file__).parents[2] / "examples/lenet_estimator/train.py"
    done = tool("predict", str(script), "--soc", "Ascend 910", "--json", str(tmp_path / "made.json"))
    assert done.code == 0, done.err[-3000:]
    made = prediction.load((tmp_path / "made.json").read_bytes())
    assert made.soc == "Ascend910A" and made.batch and made.step_ms and 0.1 < made.step_ms < 10
    assert any(str(script.parent / "lenet.py") in task.source for task in made.tasks)
    assert not any("/tf2npu-" in task.source for task in made.tasks)
