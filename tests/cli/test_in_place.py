"""`tf2npu convert --in-place` and `tf2npu undo`: the files themselves, and back again byte for byte."""

import os
import threading
from pathlib import Path

import pytest

from npu_formats.files.directory import Directory
from npu_formats.files.state_folder import tree_state
from tests.cli.test_convert import tree
from tf2npu.project.undo_log import exclusive, runs


def everything(root: Path) -> dict[str, object]:
    """Bytes, modes and times of all files, our state left out."""
    times = {p.relative_to(root).as_posix(): p.lstat().st_mtime_ns for p in root.rglob("*") if p.is_file()}
    return {name: (content, times.get(name)) for name, content in tree(root).items()}


def records_of(root: Path) -> list[str]:
    """The records of in-place conversions of a folder."""
    state = tree_state(root)
    return [run.folder for run in runs(state)] if state is not None else []


@pytest.fixture
def here(project, monkeypatch, tmp_path):
    """The project, with the report going to a folder beside it."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (project / "crlf.py").write_bytes(b"import tensorflow as tf\r\nwith tf.Session():\r\n    pass")
    (project / "crlf.py").chmod(0o751)
    return project


class TestConvert:
    def test_it_gives_what_out_would_hold_and_keeps_modes(self, tool, here, tmp_path):
        tool("convert", here, tmp_path / "out")
        done = tool("convert", here, "--in-place")
        assert done.code == 0, done.err
        assert tree(here) == tree(tmp_path / "out")
        assert "`tf2npu undo" in done.out

    def test_a_second_run_changes_nothing_and_leaves_no_record(self, tool, here):
        tool("convert", here, "--in-place")
        before = everything(here)
        assert tool("convert", here, "--in-place").code == 0
        assert everything(here) == before
        assert len(records_of(here)) == 1

    def test_nothing_to_convert_leaves_no_trace(self, tool, here):
        tool("convert", here / "pkg", "--in-place")
        assert records_of(here / "pkg") == []

    def test_nothing_is_added_to_the_tree(self, tool, here):
        before = set(tree(here))
        tool("convert", here, "--in-place")
        assert set(tree(here)) == before

    def test_a_file_that_changes_meanwhile_is_kept(self, tool, here, monkeypatch):
        from tf2npu.project import undo_log

        def meanwhile(source, path, *rest):
            if path == "train.py":
                (here / path).write_text("# edited meanwhile\n")
            return original(source, path, *rest)

        original = undo_log.copy_whole
        monkeypatch.setattr(undo_log, "copy_whole", meanwhile)
        done = tool("convert", here, "--in-place")
        assert done.code == 1
        assert "train.py:1:1: manual NPU004" in done.out
        assert (here / "train.py").read_text() == "# edited meanwhile\n"
        assert "npu_config_proto" in (here / "crlf.py").read_text()

    def test_one_that_cannot_be_replaced_fails_alone(self, tool, here, failing):
        failing("rename", "crlf.py", 28, argument=1)
        done = tool("convert", here, "--in-place")
        assert done.code == 3
        assert "crlf.py:1:1: failed NPU001 cannot be written: No space left on device" in done.out
        assert b"npu_config" not in (here / "crlf.py").read_bytes()

    def test_other_hard_links_are_named(self, tool, here):
        os.link(here / "train.py", here / "other.txt")
        done = tool("convert", here, "--in-place", "--format", "text", "--report", here.parent / "rep")
        assert done.code == 0
        assert "hard links" in (here.parent / "rep" / "report.txt").read_text()
        assert "npu" not in (here / "other.txt").read_text()


class TestUndo:
    def test_it_restores_bytes_modes_and_times_and_removes_its_state(self, tool, here):
        before = everything(here)
        tool("convert", here, "--in-place")
        assert everything(here) != before
        done = tool("undo", here)
        assert (done.code, done.out) == (0, "2 files restored, 0 kept as they are\n")
        assert everything(here) == before
        assert records_of(here) == []

    def test_twice_is_once(self, tool, here):
        tool("convert", here, "--in-place")
        tool("undo", here)
        before = everything(here)
        done = tool("undo", here)
        assert done.code == 0
        assert "nothing to undo" in done.out
        assert everything(here) == before

    def test_a_folder_that_is_not_there_is_a_mistake(self, tool, here):
        done = tool("undo", here / "no_such_folder")
        assert done.code == 2
        assert "no_such_folder: no such file or folder" in done.err

    def test_a_file_that_was_removed_since_comes_back(self, tool, here):
        before = (here / "train.py").read_bytes()
        tool("convert", here, "--in-place")
        (here / "train.py").unlink()
        assert tool("undo", here / "train.py", "--force").code == 0
        assert (here / "train.py").read_bytes() == before

    def test_what_changed_since_is_kept_and_said(self, tool, here):
        tool("convert", here, "--in-place")
        (here / "train.py").write_text("# mine\n")
        for _ in range(2):
            done = tool("undo", here)
            assert done.code == 1
            assert "train.py: kept as it is: it was changed since" in done.out
            assert (here / "train.py").read_text() == "# mine\n"
        assert b"npu" not in (here / "crlf.py").read_bytes()

    def test_force_restores_it_with_a_backup(self, tool, here, session_source):
        tool("convert", here, "--in-place")
        (here / "train.py").write_text("# mine\n")
        (here / "crlf.py").unlink()
        assert tool("undo", here).code == 1
        assert not (here / "crlf.py").exists()
        assert tool("undo", here, "--force").code == 0
        assert (here / "train.py").read_text() == session_source
        assert (here / "train.py.tf2npu-backup").read_text() == "# mine\n"
        assert (here / "crlf.py").stat().st_mode & 0o777 == 0o751

    def test_one_file_of_several(self, tool, here, session_source):
        tool("convert", here, "--in-place")
        assert tool("undo", here / "train.py").code == 0
        assert (here / "train.py").read_text() == session_source
        assert "npu" in (here / "crlf.py").read_text()
        assert tool("undo", here).out.startswith("1 file restored")

    def test_a_file_deep_in_the_tree(self, tool, here):
        before = (here / "train.py").read_bytes()
        (here / "pkg" / "deep.py").write_bytes(before)
        tool("convert", here, "--in-place")
        assert (here / "pkg" / "deep.py").read_bytes() != before
        assert f"{here} was converted as a whole" in tool("undo", here / "pkg").out
        assert tool("undo", here / "pkg" / "deep.py").out.startswith("1 file restored")
        assert (here / "pkg" / "deep.py").read_bytes() == before

    def test_a_link_to_itself(self, tool, here):
        (here / "loop").symlink_to("loop")
        for command in (("undo", here / "loop"), ("scan", here / "loop"), ("convert", here / "loop", "--in-place")):
            assert "internal error" not in tool(*command).err

    def test_conversions_are_undone_one_at_a_time(self, tool, here, session_source):
        first = everything(here)
        tool("convert", here, "--in-place")
        second = everything(here)
        (here / "later.py").write_text(session_source)
        tool("convert", here, "--in-place")
        assert "1 earlier in-place conversions" in tool("undo", here).out
        (here / "later.py").unlink()
        assert everything(here) == second
        tool("undo", here)
        assert everything(here) == first

    def test_a_folder_that_became_a_link_is_not_followed(self, tool, here, session_source, tmp_path):
        (here / "deep").mkdir()
        (here / "deep" / "m.py").write_text(session_source)
        tool("convert", here, "--in-place")
        (here / "deep").rename(tmp_path / "moved")
        (here / "deep").symlink_to(tmp_path / "moved")
        done = tool("undo", here)
        assert done.code == 1
        assert "deep/m.py: kept as it is: its folder is gone or became a link" in done.out
        assert "npu" in (tmp_path / "moved" / "m.py").read_text()

    def test_odd_names(self, tool, here, session_source):
        names = ["new\nline.py", "-rf.py", os.fsdecode(b"caf\xe9.py"), '<b>"&.py']
        for name in names:
            (here / name).write_text(session_source)
        before = everything(here)
        assert tool("convert", here, "--in-place").code == 0
        assert all("npu" in (here / name).read_text() for name in names)
        assert tool("undo", here).code == 0
        assert everything(here) == before

    @pytest.mark.parametrize("n_moved", [0, 1])
    def test_a_conversion_that_was_broken_off_can_be_undone_or_finished(self, tool, here, monkeypatch, tmp_path, n_moved):
        before = everything(here)
        tool("convert", here, tmp_path / "out")
        real, moved = Directory.rename, []

        def breaking(folder, source, target):
            if target.endswith(".py"):
                if len(moved) == n_moved:
                    raise KeyboardInterrupt
                moved.append(target)
            real(folder, source, target)

        for after in ("undo", "rerun"):
            moved.clear()
            with monkeypatch.context() as patch:
                patch.setattr(Directory, "rename", breaking)
                assert tool("convert", here, "--in-place").code == 130
            assert len(moved) == n_moved
            if after == "undo":
                assert tool("undo", here).code == 0
            else:
                assert tool("convert", here, "--in-place").code == 0
                assert tree(here) == tree(tmp_path / "out")
                assert tool("undo", here).code == 0
            assert everything(here) == before


class TestRefusals:
    @pytest.mark.parametrize(
        "words, said",
        [
            (["convert", ".", "out", "--in-place"], "OUT must be absent"),
            (["convert", "-", "--in-place"], "stdout"),
            (["convert", ".", "--in-place", "--diff"], "choose one"),
            (["convert", ".", "--in-place", "--check"], "choose one"),
            (["convert", "missing", "--in-place"], "no such file"),
            (["undo", "missing/x"], "no such file"),
        ],
    )
    def test_one_message_and_exit_2(self, tool, here, words, said):
        done = tool(*words)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert said in done.err

    def test_two_at_a_time(self, tool, here):
        before = tree(here)
        ready, done = threading.Event(), threading.Event()

        def other():
            with Directory.given(here) as folder, exclusive(folder):
                ready.set()
                done.wait(30)

        thread = threading.Thread(target=other)
        thread.start()
        ready.wait(30)
        refused = tool("convert", here, "--in-place")
        done.set()
        thread.join()
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "another tf2npu" in refused.err
        assert tree(here) == before

    def test_a_source_that_cannot_be_written_fails_file_by_file(self, tool, here, failing):
        before = everything(here)
        for name in ("train.py", "crlf.py"):
            failing("rename", name, 30, argument=1)
        done = tool("convert", here, "--in-place")
        assert (done.code, done.out.count("cannot be written: Read-only file system")) == (3, 2)
        assert everything(here) == before

    @pytest.mark.parametrize("named", ["folder", "file"])
    def test_a_link_is_not_followed(self, tool, here, named):
        before = everything(here)
        link = here.parent / "link"
        link.symlink_to(here if named == "folder" else here / "train.py")
        done = tool("convert", link, "--in-place")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "a symbolic link" in done.err
        assert everything(here) == before
