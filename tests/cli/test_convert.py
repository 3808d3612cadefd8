"""`tf2npu convert` from outside: what it writes, says and returns."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tf2npu.report.formats import as_json


def report_of(folder: Path) -> dict:
    document = json.loads((folder / "report.json").read_text())
    jsonschema.Draft202012Validator(json.loads(as_json.SCHEMA_FILE.read_text())).validate(document)
    return document


def file_in(document: dict, path: str) -> dict:
    return next(file for file in document["files"] if file["path"] == path)


def tree(root: Path) -> dict[str, object]:
    """The entries of a folder: bytes of files, targets of links, modes; our own record left out."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] in (".tf2npu", "tf2npu-report"):
            continue
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = (path.stat().st_mode & 0o777, path.read_bytes() if path.is_file() else None)
    return found


def test_out_mirrors_src_with_the_script_converted(tool, project, tmp_path):
    done = tool("convert", project, tmp_path / "out")
    assert done.code == 0, done
    before, after = tree(project), tree(tmp_path / "out")
    assert list(before) == list(after)
    assert {name for name in before if before[name] != after[name]} == {"train.py"}
    converted = (tmp_path / "out" / "train.py").read_text()
    assert "config=npu_config_proto()" in converted
    compile(converted, "train.py", "exec")


def test_the_report_stands_in_out_in_three_formats(tool, project, tmp_path):
    tool("convert", project, tmp_path / "out")
    folder = tmp_path / "out" / "tf2npu-report"
    assert {p.name for p in folder.iterdir()} >= {"index.html", "report.json", "report.sarif", "files"}
    document = report_of(folder)
    assert file_in(document, "train.py")["status"] == "converted"
    assert file_in(document, "pkg/plain.py")["status"] == "copied"
    assert document["summary"]["findings"]["fixed"] >= 1


def test_report_and_format_choose_place_and_kind(tool, project, tmp_path):
    tool("convert", project, tmp_path / "out", "--report", tmp_path / "rep", "--format", "json,text")
    assert {p.name for p in (tmp_path / "rep").iterdir()} == {"report.json", "report.txt", ".tf2npu-report"}
    assert not (tmp_path / "out" / "tf2npu-report").exists()


def test_a_second_run_changes_nothing(tool, project, tmp_path):
    out = tmp_path / "out"
    tool("convert", project, out)
    stamps = {p: p.lstat().st_mtime_ns for p in out.rglob("*.py")}
    reports = {p: p.read_bytes() for p in (out / "tf2npu-report").rglob("*") if p.is_file()}
    assert tool("convert", project, out).code == 0
    assert stamps == {p: p.lstat().st_mtime_ns for p in out.rglob("*.py")}
    assert reports == {p: p.read_bytes() for p in (out / "tf2npu-report").rglob("*") if p.is_file()}


def test_converting_the_output_changes_nothing(tool, project, tmp_path):
    tool("convert", project, tmp_path / "out")
    tool("convert", tmp_path / "out", tmp_path / "again")
    assert tree(tmp_path / "out") == tree(tmp_path / "again")


def test_reports_hold_no_place_of_this_machine_and_are_the_same_for_any_out(tool, project, tmp_path):
    for name in ("one", "two"):
        tool("convert", project, tmp_path / name, "--no-cache")
    folders = [tmp_path / name / "tf2npu-report" for name in ("one", "two")]
    reports = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders]
    assert reports[0] == reports[1]
    assert not any(str(tmp_path).encode() in data for data in reports[0].values())


def test_commands_of_the_project_settings_are_entries_and_a_change_of_them_counts(tool, tmp_path):
    src, out = tmp_path / "src", tmp_path / "out"
    (src / "pkg").mkdir(parents=True)
    (src / "pkg" / "cli.py").write_text("import tensorflow as tf\ndef main():\n    tf.keras.Sequential().fit(x, y)\n")
    settings = src / "pyproject.toml"
    settings.write_text("[project]\nname = 'pkg'\n")
    tool("convert", src, out)
    assert (out / "pkg" / "cli.py").read_bytes() == (src / "pkg" / "cli.py").read_bytes()
    settings.write_text("[project]\nname = 'pkg'\n[project.scripts]\ntrain = 'pkg.cli:main'\n")
    tool("convert", src, out)
    assert "def main():\n    import atexit\n    npu_keras_sess = set_keras" in (out / "pkg" / "cli.py").read_text()
    assert (out / "pyproject.toml").read_text() == settings.read_text()
    assert tool("convert", src, tmp_path / "again", "--python2").code == tool("convert", src, out).code


def test_workers_and_this_process_give_the_same(tool, project, tmp_path, session_source):
    for number in range(40):
        (project / f"m{number:02}.py").write_text(session_source + f"# {'x' * 9000}\n")
    tool("convert", project, tmp_path / "one", "--jobs", "1", "--no-cache")
    tool("convert", project, tmp_path / "three", "--jobs", "3", "--no-cache")
    assert tree(tmp_path / "one") == tree(tmp_path / "three")
    names = ("report.json", "report.sarif", "index.html", "decisions.html", "findings.html", "files.html", "apis.html")
    assert all((tmp_path / "one" / "tf2npu-report" / n).read_bytes() == (tmp_path / "three" / "tf2npu-report" / n).read_bytes()
               for n in names)  # fmt: skip


def test_work_left_is_exit_1_and_stands_first(tool, tmp_path):
    source = tmp_path / "t.py"
    source.write_text("import tensorflow as tf\ne = tf.estimator.Estimator(**options)\n")
    done = tool("convert", source, tmp_path / "out")
    assert done.code == 1
    assert done.out.split("\n")[1].startswith("t.py:2:")
    assert " manual " in done.out


class TestWithoutWriting:
    @pytest.mark.parametrize("option", ["--diff", "--check", "--dry-run"])
    def test_nothing_is_written(self, tool, project, tmp_path, option):
        before = tree(tmp_path)
        tool("convert", project, option)
        tool("convert", project, tmp_path / "out", option)
        assert tree(tmp_path) == before

    def test_check_is_1_before_and_0_after(self, tool, project, tmp_path):
        assert tool("convert", project, "--check").code == 1
        tool("convert", project, tmp_path / "out")
        assert tool("convert", tmp_path / "out", "--check").code == 0

    def test_a_diff_is_a_patch_that_makes_the_output(self, tool, project, tmp_path):
        done = tool("convert", project, "--diff")
        assert done.code == 0
        tool("convert", project, tmp_path / "out")
        applied = subprocess.run(["git", "apply", "-p1", "-"], input=done.out.encode(), cwd=project, check=False)
        assert applied.returncode == 0
        assert (project / "train.py").read_bytes() == (tmp_path / "out" / "train.py").read_bytes()

    def test_a_diff_keeps_the_encoding_and_a_missing_final_newline(self, tool, tmp_path):
        source = tmp_path / "t.py"
        data = "# -*- coding: latin-1 -*-\r\nimport tensorflow as tf\r\ns = tf.Session()  # \xe9".encode("latin-1")
        source.write_bytes(data)
        patch = tool("convert", source, "--diff").out.encode("utf-8", "surrogateescape")
        tool("convert", source, tmp_path / "out")
        assert subprocess.run(["git", "apply", "-p1", "-"], input=patch, cwd=tmp_path, check=False).returncode == 0
        assert source.read_bytes() == (tmp_path / "out" / "t.py").read_bytes() != data

    @pytest.mark.parametrize("option", ["--diff", "--check", "--dry-run"])
    @pytest.mark.parametrize("from_stdin", [False, True])
    def test_the_last_lines_do_not_say_that_something_was_done(self, tool, project, session_source, option, from_stdin):
        source = "-" if from_stdin else project / "train.py"
        done = tool("convert", source, option, stdin=session_source.encode())
        said = done.out + done.err
        assert "1 file: 1 would be converted\n" in said
        assert ", converted for" not in said
        assert "2 findings: 2 would be fixed\n" in said

    def test_a_report_is_written_where_one_is_asked_for(self, tool, project, tmp_path):
        tool("convert", project, "--dry-run", "--report", tmp_path / "rep")
        assert report_of(tmp_path / "rep")["summary"]["command"] == "scan"


class TestSingleFiles:
    def test_into_a_folder(self, tool, project, tmp_path):
        assert tool("convert", project / "train.py", tmp_path / "out").code == 0
        assert "npu_config_proto" in (tmp_path / "out" / "train.py").read_text()
        assert report_of(tmp_path / "out" / "tf2npu-report")["files"][0]["path"] == "train.py"

    def test_into_a_file_of_another_name(self, tool, project, tmp_path):
        assert tool("convert", project / "train.py", tmp_path / "new" / "npu.py").code == 0
        assert "npu_config_proto" in (tmp_path / "new" / "npu.py").read_text()
        assert not (tmp_path / "new" / "train.py").exists()

    def test_two_files_into_one_folder_both_stay(self, tool, project, tmp_path):
        tool("convert", project / "train.py", tmp_path / "out")
        tool("convert", project / "pkg" / "plain.py", tmp_path / "out")
        assert {p.name for p in (tmp_path / "out").glob("*.py")} == {"train.py", "plain.py"}

    def test_never_over_somebody_elses_file(self, tool, project, tmp_path):
        (tmp_path / "mine.py").write_text("mine\n")
        done = tool("convert", project / "train.py", tmp_path / "mine.py")
        assert done.code == 2
        assert "was not written by tf2npu" in done.err
        assert (tmp_path / "mine.py").read_text() == "mine\n"

    def test_never_over_itself(self, tool, project, session_source):
        for out in (project, project / "train.py"):
            assert tool("convert", project / "train.py", out, "--force").code == 2
        assert (project / "train.py").read_text() == session_source

    def test_a_notebook(self, tool, tmp_path):
        code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        code["source"] = ["import tensorflow as tf\n", "with tf.Session() as s: pass"]
        cells = [code, {"cell_type": "markdown", "source": "# <b>Title</b>", "metadata": {}}]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / "n.ipynb").write_text(json.dumps(notebook, indent=1))
        assert tool("convert", tmp_path / "n.ipynb", tmp_path / "out").code == 0
        converted = json.loads((tmp_path / "out" / "n.ipynb").read_text())
        assert "npu_config_proto()" in "".join(converted["cells"][0]["source"])
        document = report_of(tmp_path / "out" / "tf2npu-report")
        assert {finding["cell"] for finding in document["files"][0]["findings"]} == {0}
        page = next((tmp_path / "out" / "tf2npu-report" / "files").iterdir()).read_text()
        assert "cell 0" in page

    def test_stdin_to_stdout(self, tool, session_source):
        done = tool("convert", "-", stdin=session_source.encode())
        assert done.code == 0
        assert "config=npu_config_proto()" in done.out
        compile(done.out, "-", "exec")
        assert "finding" in done.err

    def test_stdin_that_does_not_parse_comes_back_as_it_is(self, tool):
        done = tool("convert", "-", stdin=b"import tensorflow\nprint 'x'\n")
        assert (done.code, done.out) == (3, "import tensorflow\nprint 'x'\n")
        assert "<stdin>:2:1: failed" in done.err


class TestDistributed:
    HOROVOD = "import horovod.tensorflow as hvd\nimport tensorflow as tf\nhvd.init()\n"
    MIRRORED = "import tensorflow as tf\ns = tf.distribute.MirroredStrategy()\n"

    def test_what_is_found_is_the_first_line_with_the_command_to_rerun(self, tool, tmp_path):
        (tmp_path / "s").mkdir()
        (tmp_path / "s" / "t.py").write_text(self.HOROVOD)
        done = tool("convert", tmp_path / "s", tmp_path / "o")
        first = done.out.split("\n")[0]
        assert "Horovod (t.py:" in first
        assert f"`tf2npu convert {tmp_path / 's'} {tmp_path / 'o'} --distributed horovod`" in first
        assert report_of(tmp_path / "o" / "tf2npu-report")["summary"]["headline"].count("tf2npu convert SRC OUT") == 1

    @pytest.mark.parametrize("mode, words", [("none", "for a single device"), ("tf", "Converted with --distributed tf"),
                                             ("horovod", "No Horovod was found")])  # fmt: skip
    def test_the_first_line_says_what_was_done_where_none_is_found(self, tool, tmp_path, mode, words):
        """It said of all three that they were converted for a single device."""
        (tmp_path / "t.py").write_text("import tensorflow as tf\ng = tf.gradients(loss, tf.trainable_variables())\n")
        first = tool("convert", tmp_path / "t.py", tmp_path / "o", "--distributed", mode).out.split("\n")[0]
        assert words in first and ("for a single device" in first) == (mode == "none")
        assert ("npu_allreduce(" in (tmp_path / "o" / "t.py").read_text()) == (mode == "tf")

    @pytest.mark.parametrize("source, mode", [(HOROVOD, "horovod"), (MIRRORED, "tf")])
    def test_auto_takes_the_one_kind_there_is(self, tool, tmp_path, source, mode):
        (tmp_path / "t.py").write_text(source)
        done = tool("convert", tmp_path / "t.py", tmp_path / "o", "--distributed", "auto")
        assert done.code in (0, 1)
        assert report_of(tmp_path / "o" / "tf2npu-report")["summary"]["distributed"]["mode"] == mode

    @pytest.mark.parametrize("source", ["import tensorflow as tf\n", HOROVOD + MIRRORED])
    def test_auto_with_none_or_several_is_a_usage_error(self, tool, tmp_path, source):
        (tmp_path / "t.py").write_text(source)
        done = tool("convert", tmp_path / "t.py", tmp_path / "o", "--distributed", "auto")
        assert done.code == 2
        assert "--distributed auto" in done.err
        assert not (tmp_path / "o").exists()


def test_select_and_ignore(tool, project, tmp_path):
    tool("convert", project, tmp_path / "out", "--ignore", "NPU1")
    assert "config=" not in (tmp_path / "out" / "train.py").read_text()


@pytest.mark.parametrize(
    "words, said",
    [
        (["convert", "missing", "out"], "no such file"),
        (["convert", "."], "OUT is missing"),
        (["convert", ".", "o", "--distributed", "mpi"], "'mpi' is not one of"),
        (["convert", ".", "o", "--format", "xml"], "'xml' is not one of"),
        (["convert", ".", "o", "--select", "frob"], "neither a rule id"),
        (["convert", ".", "o", "--select", "NPU101,NPU777"], "no rule has the id NPU777"),
        (["scan", ".", "--ignore", "NPU888"], "no rule has the id NPU888"),
        (["convert", ".", "o", "--main", "missing.py"], "missing.py"),
        (["convert", ".", "o", "--jobs", "0"], "0"),
        (["convert", "-", "o"], "OUT must be absent"),
        (["scan"], "Missing argument"),
        (["convert", "", "out"], "the path is empty"),
        (["convert", ".", ""], "the path is empty"),
        (["scan", ""], "the path is empty"),
        (["undo", ""], "the path is empty"),
        (["scan", ".", "--report", ""], "the path is empty"),
        (["rules", ""], "no rule has the id ''"),
        (["rules", "NPU777"], "no rule"),
        (["report", "missing.json"], "cannot be read"),
        (["frobnicate"], "No such command"),
    ],
)
def test_a_wrong_request_is_one_message_and_exit_2(tool, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    done = tool(*words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_setting_names_file_and_key(tool, project, tmp_path):
    (project / "pyproject.toml").write_text("[tool.tf2npu]\nimprot-style = 'star'\n")
    done = tool("convert", project, tmp_path / "out")
    assert done.code == 2
    assert "pyproject.toml" in done.err
    assert "improt-style" in done.err


def test_a_defect_of_ours_is_one_line_and_a_log_file(tool, project, tmp_path, monkeypatch):
    monkeypatch.setattr("tf2npu.project.source_tree.walk", lambda *asked: 1 / 0)
    done = tool("convert", project, tmp_path / "out")
    assert done.code == 70
    assert done.err.count("\n") == 1
    assert "internal error: ZeroDivisionError" in done.err
    assert "Traceback" in Path(done.err.split("details in ")[1].strip()).read_text()


def test_a_defect_of_ours_in_one_file_costs_that_file_only(tool, project, tmp_path, monkeypatch):
    import tf2npu.engine.convert_file as engine

    def broken(path, data, config, project):
        if path == "train.py":
            raise ZeroDivisionError("a defect")
        return engine.FileResult(path, engine.Status.COPIED, before=data, after=data)

    monkeypatch.setattr(engine, "convert_file", broken)
    done = tool("convert", project, tmp_path / "out", "--no-cache")
    assert done.code == 3
    assert "train.py:1:1: failed NPU006" in done.out
    assert "details in" in done.err
    assert tree(project) == tree(tmp_path / "out")


def test_convert_loads_neither_tensorflow_nor_numpy(project, tmp_path):
    code = (
        "import sys; from tf2npu import cli\n"
        "try: cli.main(sys.argv[1:])\n"
        "except SystemExit as stop: pass\n"
        "print(sorted({'tensorflow', 'numpy', 'npu_runtime', 'npu_bridge'} & {name.split('.')[0] for name in sys.modules}))"
    )
    for words in (["convert", str(project), str(tmp_path / "out")], ["scan", str(project), "--report", str(tmp_path / "rep")]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert done.stdout.endswith("[]\n"), done


def test_help_loads_no_parser_and_no_renderer():
    code = (
        "import sys; from tf2npu import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'libcst', 'jinja2', 'rich', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_a_report_does_not_replace_a_page_of_the_project(tool, project, tmp_path):
    (project / "index.html").write_text("the project's own")
    done = tool("convert", project, tmp_path / "out", "--report", tmp_path / "out")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "index.html: exists" in done.err and "the report is not written" in done.err
    assert (tmp_path / "out" / "index.html").read_text() == "the project's own"


def test_how_to_undo_is_said_where_the_report_cannot_be_written(tool, project, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tf2npu.report.writer.write", full)
    done = tool("convert", project, "--in-place", "--report", tmp_path / "rep")
    assert done.code == 2
    assert "No space left" in done.err
    assert "tf2npu undo" in done.out
