"""Trees as they are found: one clear message for each thing that is wrong, and every other file still converted."""

import errno
import os
from pathlib import Path

import pytest

from tests.cli.test_convert import file_in, report_of, tree


def converted(out: Path) -> bool:
    return "config=npu_config_proto()" in (out / "train.py").read_text()


def lines_about(path: str, text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith(f"{path}:")]


@pytest.mark.parametrize(
    "data, said, place",
    [
        (b"import tensorflow as tf\ndef f(:\n    pass\n", "", "2:"),
        (b"import tensorflow as tf\nprint 'two'\n", "Rewrite the code for Python 3", "2:"),
        (b"import tensorflow as tf\nx = '\xff'\n", "utf-8", "2:"),
        (b"# coding: klingon\nimport tensorflow as tf\n", "klingon", "1:"),
        (b"import tensorflow as tf\nx = 1\0\n", "", "1:"),
    ],
)
def test_a_file_that_does_not_parse_is_copied_and_named(tool, project, tmp_path, data, said, place):
    (project / "bad.py").write_bytes(data)
    done = tool("convert", project, tmp_path / "out")
    assert done.code == 3
    (line,) = lines_about("bad.py", done.out)
    assert said in line
    if said != "":
        assert line.startswith(f"bad.py:{place}")
    assert (tmp_path / "out" / "bad.py").read_bytes() == data
    assert converted(tmp_path / "out")
    assert file_in(report_of(tmp_path / "out" / "tf2npu-report"), "bad.py")["status"] == "failed"


def test_latin_1_with_a_cookie_is_converted_in_its_encoding(tool, project, tmp_path, session_source):
    text = "# -*- coding: latin-1 -*-\n" + session_source + "name = 'Ren\xe9'\n"
    (project / "latin.py").write_bytes(text.encode("latin-1"))
    assert tool("convert", project, tmp_path / "out").code == 0
    data = (tmp_path / "out" / "latin.py").read_bytes()
    assert b"Ren\xe9" in data
    assert b"npu_config_proto" in data
    page = next(p for p in (tmp_path / "out" / "tf2npu-report" / "files").iterdir() if p.name.startswith("latin"))
    assert "Ren\xe9" in page.read_text(encoding="utf-8")


def test_links_are_kept_dangling_or_not(tool, project, tmp_path):
    (project / "dangling").symlink_to("nowhere")
    outside = tmp_path / "shared"
    outside.mkdir()
    (project / "outside").symlink_to("../shared")
    (project / "absolute").symlink_to(project / "pkg")
    done = tool("convert", project, tmp_path / "deep" / "out")
    out = tmp_path / "deep" / "out"
    assert done.code == 0
    assert os.readlink(out / "dangling") == "nowhere"
    assert os.readlink(out / "lib") == "pkg"
    assert (out / "outside").resolve() == outside  # the relative link would lead elsewhere from here
    assert (out / "absolute").resolve() == out / "pkg"  # into the converted copy
    findings = {f["path"]: f["findings"] for f in report_of(out / "tf2npu-report")["files"]}
    assert "dangling" in findings["dangling"][0]["message"]
    assert findings["outside"][0]["level"] == "skipped"
    assert findings["lib"] == []


def test_special_files_are_left_out_and_named(tool, project, tmp_path):
    os.mkfifo(project / "pipe")
    os.mkfifo(project / "pipe.py")
    done = tool("convert", project, tmp_path / "out")
    assert done.code == 0
    assert not (tmp_path / "out" / "pipe").exists()
    findings = file_in(report_of(tmp_path / "out" / "tf2npu-report"), "pipe.py")["findings"]
    assert [(f["rule"], f["level"]) for f in findings] == [("NPU002", "skipped")]
    assert "named pipe" in findings[0]["message"]
    assert converted(tmp_path / "out")


def test_a_file_that_cannot_be_read_is_failed_and_the_rest_goes_on(tool, project, tmp_path, failing):
    (project / "locked.py").write_text("import tensorflow\n")
    (project / "locked.bin").write_bytes(b"x")
    for name in ("locked.py", "locked.bin"):  # root may read everything, so modes do not do it
        failing("reader", name, errno.EACCES)
    done = tool("convert", project, tmp_path / "out")
    assert done.code == 3
    for name in ("locked.py", "locked.bin"):
        assert lines_about(name, done.out) == [f"{name}:1:1: failed NPU001 cannot be read: Permission denied; not in the output"]
    assert converted(tmp_path / "out")


class TestOutThatCannotBe:
    def test_below_a_file(self, tool, project, tmp_path):
        (tmp_path / "file").write_text("")
        done = tool("convert", project, tmp_path / "file" / "out")
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert "cannot be written" in done.err or "no folder" in done.err
        assert (tmp_path / "file").read_text() == ""

    def test_a_file(self, tool, project, tmp_path):
        (tmp_path / "file").write_text("mine")
        done = tool("convert", project, tmp_path / "file")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert (tmp_path / "file").read_text() == "mine"

    def test_on_a_file_system_that_takes_nothing(self, tool, project):
        done = tool("convert", project, "/proc/tf2npu-out")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "/proc/tf2npu-out" in done.err

    def test_one_file_of_it(self, tool, project, tmp_path, failing):
        failing("rename", "data.bin", errno.ENOSPC, argument=1)
        done = tool("convert", project, tmp_path / "out")
        assert done.code == 3
        assert lines_about("data.bin", done.out) == ["data.bin:1:1: failed NPU001 cannot be written: No space left on device"]
        assert not (tmp_path / "out" / "data.bin").exists()
        assert converted(tmp_path / "out")

    def test_without_room_for_its_record(self, tool, project, tmp_path, failing):
        mend = failing("rename", "manifest.json", errno.ENOSPC, argument=1)
        done = tool("convert", project, tmp_path / "out")
        mend()
        assert done.code == 3 and "Traceback" not in done.err and "internal error" not in done.err
        assert "the record of the output cannot be written: No space left on device" in done.out
        assert converted(tmp_path / "out")
        assert tool("convert", project, tmp_path / "out").code < 2  # the journal tells that the files are ours

    def test_without_room_for_the_record_of_originals(self, tool, project, tmp_path, monkeypatch):
        def refusing(run, entries):
            raise OSError(errno.ENOSPC, "No space left on device")

        before = tree(project)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("tf2npu.project.undo_log.UndoRun.record", refusing)
        done = tool("convert", project, "--in-place")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "cannot be recorded: No space left on device" in done.err
        assert tree(project) == before

    @pytest.mark.parametrize("where", ["inside", "same", "around", "by a link"])
    def test_tangled_with_src(self, tool, project, tmp_path, where):
        (tmp_path / "back").symlink_to(project)
        out = {"inside": project / "out", "same": project, "around": tmp_path, "by a link": tmp_path / "back" / "out"}[where]
        before = tree(tmp_path)
        done = tool("convert", project, out, "--force")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "SRC" in done.err
        assert tree(tmp_path) == before

    def test_somebody_elses(self, tool, project, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "train.py").write_text("mine\n")
        done = tool("convert", project, tmp_path / "out")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "--force" in done.err
        assert tree(tmp_path / "out") == {"train.py": (0o644, b"mine\n")}
        assert tool("convert", project, tmp_path / "out", "--force").code == 0
        assert (tmp_path / "out" / "train.py.tf2npu-backup").read_text() == "mine\n"
        assert converted(tmp_path / "out")

    def test_an_empty_folder_will_do(self, tool, project, tmp_path):
        (tmp_path / "out").mkdir()
        assert tool("convert", project, tmp_path / "out").code == 0


class TestChangedByHand:
    @pytest.fixture
    def out(self, tool, project, tmp_path):
        tool("convert", project, tmp_path / "out")
        (tmp_path / "out" / "train.py").write_text("# by hand\n")
        return tmp_path / "out"

    def test_it_is_kept_and_the_new_version_stands_beside_it(self, tool, project, out):
        done = tool("convert", project, out)
        assert done.code == 1
        assert len(lines_about("train.py", done.out)) == 1
        assert (out / "train.py").read_text() == "# by hand\n"
        assert "config=npu_config_proto()" in (out / "train.py.tf2npu-new").read_text()
        assert file_in(report_of(out / "tf2npu-report"), "train.py")["status"] == "conflict"

    def test_a_later_run_says_so_again_and_renews_the_new_version(self, tool, project, out):
        tool("convert", project, out)
        (project / "train.py").write_text((project / "train.py").read_text() + "later = 1\n")
        assert tool("convert", project, out).code == 1
        assert (out / "train.py").read_text() == "# by hand\n"
        assert "later = 1" in (out / "train.py.tf2npu-new").read_text()

    def test_settled_by_taking_the_new_version(self, tool, project, out):
        tool("convert", project, out)
        os.replace(out / "train.py.tf2npu-new", out / "train.py")
        assert tool("convert", project, out).code == 0
        assert not (out / "train.py.tf2npu-new").exists()

    def test_a_new_version_that_somebody_works_in_is_not_lost(self, tool, project, out):
        tool("convert", project, out)
        (out / "train.py.tf2npu-new").write_text("merging\n")
        tool("convert", project, out)
        assert (out / "train.py.tf2npu-new.tf2npu-backup").read_text() == "merging\n"

    def test_force_backs_it_up_each_time(self, tool, project, out):
        assert tool("convert", project, out, "--force").code == 0
        assert converted(out)
        assert (out / "train.py.tf2npu-backup").read_text() == "# by hand\n"
        (out / "train.py").write_text("# again\n")
        tool("convert", project, out, "--force")
        assert (out / "train.py.tf2npu-backup").read_text() == "# by hand\n"
        assert (out / "train.py.tf2npu-backup1").read_text() == "# again\n"

    def test_deleted_by_hand_it_comes_back(self, tool, project, out):
        (out / "train.py").unlink()
        assert tool("convert", project, out).code == 0
        assert converted(out)

    def test_a_link_put_in_the_place_of_a_folder_is_not_followed(self, tool, project, out, tmp_path):
        import shutil

        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        shutil.rmtree(out / "pkg")
        (out / "pkg").symlink_to(elsewhere)
        assert tool("convert", project, out).code == 1
        assert list(elsewhere.iterdir()) == []
        assert tool("convert", project, out, "--force").code == 0
        assert list(elsewhere.iterdir()) == []
        assert (out / "pkg" / "plain.py").read_text() == "x = 1\n"


class TestGoneFromSrc:
    def test_unchanged_files_and_emptied_folders_go(self, tool, project, tmp_path):
        import shutil

        out = tmp_path / "out"
        tool("convert", project, out)
        (project / "lib").unlink()
        (out / "pkg" / "notes.txt").write_text("mine\n")
        shutil.rmtree(project / "pkg")
        (project / "run.sh").unlink()
        assert tool("convert", project, out).code == 0
        assert set(tree(out)) == {"train.py", "alias.py", "data.bin", "pkg", "pkg/notes.txt"}

    def test_a_changed_one_stays_and_is_named(self, tool, project, tmp_path):
        out = tmp_path / "out"
        tool("convert", project, out)
        (out / "run.sh").write_text("mine\n")
        (project / "run.sh").unlink()
        for _ in range(2):
            done = tool("convert", project, out)
            assert done.code == 1
            assert lines_about("run.sh", done.out)[0].startswith("run.sh:1:1: manual NPU005")
            assert (out / "run.sh").read_text() == "mine\n"

    def test_a_folder_becomes_a_file_and_back(self, tool, project, tmp_path):
        import shutil

        out = tmp_path / "out"
        (project / "lib").unlink()
        tool("convert", project, out)
        shutil.rmtree(project / "pkg")
        (project / "pkg").write_text("now a file\n")
        assert tool("convert", project, out).code == 0
        assert tree(out)["pkg"] == (0o644, b"now a file\n")
        (project / "pkg").unlink()
        (project / "pkg").mkdir()
        (project / "pkg" / "m.py").write_text("")
        assert tool("convert", project, out).code == 0
        assert "pkg/m.py" in tree(out)


class TestNeverCopied:
    def test_an_output_inside_of_the_source_says_where_it_could_stand(self, tool, project, monkeypatch):
        """A user who is in the project types `tf2npu convert . out`."""
        monkeypatch.chdir(project)
        refused = tool("convert", ".", "out")
        beside = f"../{project.name}_npu"
        assert refused.code == 2 and f"such as {beside}, or convert its files where they are, with --in-place" in refused.err
        assert tool("convert", ".", beside).code in (0, 1) and Path(beside).is_dir()

    def test_version_control_caches_environments_and_reports(self, tool, project, tmp_path):
        left = ((".git", "HEAD"), ("pkg/__pycache__", "a.pyc"), ("env", "pyvenv.cfg"), ("old", ".tf2npu-report"))
        profile = ("logs/PROF_000001_20261130192223092_UDOVEDRTDCDXTXJG/device_0", "info.json.0")
        for folder, file in (*left, profile, ("PROF_of_teaching", "data.csv")):
            (project / folder).mkdir(parents=True)
            (project / folder / file).write_text("")
        (project / "pkg" / ".git").write_text("gitdir: elsewhere\n")
        done = tool("convert", project, tmp_path / "out")
        assert not {name for name in tree(tmp_path / "out") if name.startswith((".git", "env", "old"))}
        assert "pkg/.git" not in tree(tmp_path / "out")
        assert "env/ (virtual environment), " in done.out and "old/ (earlier report)" in done.out
        assert f"{profile[0].rpartition('/')[0]}/ (profile of a run)" in done.out
        assert {name for name in tree(tmp_path / "out") if "PROF_" in name} == {"PROF_of_teaching", "PROF_of_teaching/data.csv"}

    @pytest.mark.parametrize("data", ["link", "copy", "skip"])
    def test_large_data(self, tool, project, tmp_path, data):
        large = project / "large.npy"
        with large.open("wb") as stream:
            stream.truncate((10 << 20) + 1)
        tool("convert", project, tmp_path / "out", "--data", data)
        copy = tmp_path / "out" / "large.npy"
        assert copy.is_symlink() == (data == "link")
        assert copy.exists() == (data != "skip")
        if data != "skip":
            assert copy.read_bytes() == large.read_bytes()
        findings = file_in(report_of(tmp_path / "out" / "tf2npu-report"), "large.npy")["findings"]
        assert [f["level"] for f in findings] == {"link": ["info"], "copy": [], "skip": ["skipped"]}[data]

    @pytest.mark.whole
    def test_large_source_is_copied_and_said(self, tool, project, tmp_path):
        (project / "table.py").write_text("import tensorflow as tf\n" + "x = 1\n" * 1_800_000)
        done = tool("convert", project, tmp_path / "out")
        assert done.code == 1
        assert lines_about("table.py", done.out)[0].startswith("table.py:1:1: manual NPU008")
        assert (tmp_path / "out" / "table.py").stat().st_size == (project / "table.py").stat().st_size


def test_odd_names_and_suffixes(tool, project, tmp_path, session_source):
    names = ["new\nline.py", "-rf.py", "\u202eyp.py", "UP.PY", "gui.pyw", "spa ce.py", os.fsdecode(b"caf\xe9.py")]
    for name in names:
        (project / name).write_text(session_source)
    (project / "tool").write_text("#!/usr/bin/env python3\n" + session_source)
    done = tool("convert", project, tmp_path / "out")
    assert done.code == 0
    for name in [*names, "tool"]:
        assert "npu_config_proto" in (tmp_path / "out" / name).read_text(), name
    assert tree(project).keys() == tree(tmp_path / "out").keys()
    assert all("\x1b" not in line and "\u202e" not in line for line in done.out.split("\n"))


def test_a_current_folder_that_is_gone(tool, project, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = tool("scan", project, "--report", tmp_path / "rep")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "change to one that is there" in done.err
