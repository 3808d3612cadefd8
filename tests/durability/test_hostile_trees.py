"""A cloned repository can bring links, records and reports of ours: nothing that they lead to may change.

`benchmarks/planted_trees.py` plants at every path that a command opens; these are the attacks that once worked.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.planted_trees import snapshot
from tf2npu.project.mirror import Mirror

ODD_NAME = "$(touch PWNED).py"


@pytest.fixture
def box(tmp_path, monkeypatch, session_source):
    """A cloned repository beside things of the user's; the current folder is beside both."""
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "train.py").write_text(session_source)
    (tmp_path / "repo" / ODD_NAME).write_text(session_source)
    (tmp_path / "victim").mkdir()
    for name in ("thesis.txt", "index.html", "0"):
        (tmp_path / "victim" / name).write_text("precious\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def unchanged(box):
    """Ensure at the end of the test that everything outside of the written folders is what it was when this was called."""
    kept = []
    yield lambda *writes: kept.append((writes, snapshot(box, writes)))
    assert kept
    for writes, before in kept:
        assert snapshot(box, writes) == before


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def signed(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


class TestStateInTheSource:
    @pytest.mark.parametrize("name, target", [
        ("undo/0001/journal", "thesis.txt"), ("undo/0001/originals", ""), ("undo/0001", ""), ("lock", "thesis.txt"),
        (".gitignore", "new"), ("undo/0001/staged/restored", "thesis.txt"), ("undo", ""), ("", ""),
    ])  # fmt: skip
    def test_links_in_it_are_never_looked_at(self, tool, box, unchanged, name, target):
        link(box / "repo" / ".tf2npu" / name if name else box / "repo" / ".tf2npu", box / "victim" / target)
        unchanged("repo", "rep")
        assert tool("convert", "repo", "--in-place", "--report", "rep").code == 0
        assert "npu_config_proto" in (box / "repo" / "train.py").read_text()
        assert tool("undo", "repo").code == 0
        assert "npu_config_proto" not in (box / "repo" / "train.py").read_text()

    @pytest.mark.parametrize("original", ["0", "../../../../../victim/thesis.txt"])
    def test_a_record_that_came_with_the_tree_is_not_undone(self, tool, box, unchanged, original):
        run = box / "repo" / ".tf2npu" / "undo" / "0001"
        (run / "originals").mkdir(parents=True)
        (run / "originals" / "0").write_text("evil\n")
        link(run / "staged" / "restored", box / "victim" / "thesis.txt")
        source = run / "originals" / original
        entry = {"path": "train.py", "before": signed(source), "after": signed(box / "repo" / "train.py")}
        (run / "journal").write_text(f'{json.dumps({**entry, "original": original, "mode": 0o4755})}\n{{"finished": true}}\n')
        unchanged()
        done = tool("undo", "repo")
        assert (done.code, done.out) == (0, "nothing to undo in repo\n")


class TestReports:
    def test_one_that_came_with_the_tree_is_somebody_elses(self, tool, box, unchanged, monkeypatch):
        report = box / "repo" / "tf2npu-report"
        link(report / "files", box / "victim")
        link(report / "index.html", box / "victim" / "index.html")
        (report / ".tf2npu-report").write_text('{"tool": "tf2npu", "digest": "", "files": ["files/thesis.txt"]}')
        unchanged()
        monkeypatch.chdir(box / "repo")
        done = tool("scan", ".")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "is no report of tf2npu's that is known here" in done.err

    @pytest.mark.parametrize("name", ["files", "assets", "data", "report.json.tf2npu-draft", "index.html"])
    def test_force_replaces_links_and_never_follows_them(self, tool, box, unchanged, monkeypatch, name):
        link(box / "repo" / "tf2npu-report" / name, box / "victim" / ("index.html" if "." in name else ""))
        unchanged("repo/tf2npu-report")
        monkeypatch.chdir(box / "repo")
        done = tool("scan", ".", "--force")
        assert done.code == (2 if name in ("files", "assets") else 0)  # this report has no data
        assert name != "files" or "is or lies behind a symbolic link, which is not followed" in done.err

    @pytest.mark.parametrize("words", [("scan", ".", "--force"), ("scan", "."), ("report", "own/report.json", "--report", "rep")])
    def test_a_folder_that_is_a_link_is_refused(self, tool, box, unchanged, monkeypatch, words):
        for name in ("tf2npu-report", "rep"):
            link(box / "repo" / name, box / "victim")
        monkeypatch.chdir(box / "repo")
        assert tool("scan", ".", "--report", "own", "--format", "json").code == 0
        unchanged()
        done = tool(*words, "--format", "json")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "symbolic link" in done.err

    def test_pages_that_nobody_knows_of_stay(self, tool, box, unchanged):
        """The list of what to clear away stood in the folder itself."""
        (box / "rep" / "files").mkdir(parents=True)
        (box / "rep" / "files" / "mine.html").write_text("mine\n")
        (box / "rep" / ".tf2npu-report").write_text('{"tool": "tf2npu", "digest": "", "files": ["files/mine.html"]}')
        unchanged("rep")
        assert tool("scan", "repo", "--report", "rep", "--force").code == 0
        assert (box / "rep" / "files" / "mine.html").read_text() == "mine\n"


class TestStateInTheOutput:
    @pytest.mark.parametrize(
        "name, target", [("journal", "thesis.txt"), ("manifest.json", "thesis.txt"), ("scratch", ""), ("", "")]
    )
    def test_links_in_it_are_never_looked_at(self, tool, box, unchanged, name, target):
        (box / "victim" / "scratch").mkdir()
        (box / "victim" / "scratch" / "x").write_text("precious\n")
        link(box / "out" / ".tf2npu" / name if name else box / "out" / ".tf2npu", box / "victim" / target)
        unchanged("out")
        assert tool("convert", "repo", "out").code == 2  # it holds something, and no record of ours is known
        assert tool("convert", "repo", "out", "--force").code == 0

    def test_a_manifest_that_came_with_it_makes_nothing_ours(self, tool, box, unchanged):
        link(box / "out" / "sub", box / "victim")
        content = signed(box / "victim" / "thesis.txt")
        names = {"sub": f"link:{box / 'victim'}", **dict.fromkeys(("sub/thesis.txt", "./sub/thesis.txt", "mine.py"), content)}
        (box / "out" / ".tf2npu").mkdir()
        (box / "out" / ".tf2npu" / "manifest.json").write_text(json.dumps({"files": names}))
        shutil.copy(box / "victim" / "thesis.txt", box / "out" / "mine.py")
        unchanged("out")
        assert tool("convert", "repo", "out", "--force").code == 0
        assert (box / "out" / "mine.py").read_text() == "precious\n"

    @pytest.mark.parametrize("out", ["out", "out/inner"])
    def test_an_output_that_is_a_link_is_refused(self, tool, box, unchanged, out):
        (box / "victim" / "empty").mkdir()
        link(box / "out", box / "victim" / "empty")
        unchanged()
        done = tool("convert", "repo", out)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "is or lies behind a symbolic link, which is not followed; nothing was done" in done.err

    def test_a_mode_does_not_reach_other_names_of_a_file(self, tool, box, unchanged):
        """The file in OUT is a hard link to a file of the user's with the same content."""
        (box / "repo" / "data.bin").write_bytes(b"the same")
        (box / "victim" / "secret.bin").write_bytes(b"the same")
        (box / "victim" / "secret.bin").chmod(0o600)
        (box / "out").mkdir()
        os.link(box / "victim" / "secret.bin", box / "out" / "data.bin")
        unchanged("out")
        assert tool("convert", "repo", "out", "--force").code == 0
        assert (box / "out" / "data.bin").stat().st_mode & 0o777 == 0o644


class TestDrafts:
    """A draft that is a link to the user's data was written through when the run before had been broken off."""

    @pytest.fixture
    def large(self, box):
        (box / "repo" / "sub").mkdir()
        with (box / "repo" / "sub" / "shard.tfrecord").open("wb") as stream:
            stream.truncate(11 << 20)
        return box / "repo" / "sub" / "shard.tfrecord"

    def test_a_link_that_cannot_be_placed_leaves_none(self, tool, box, unchanged, large, failing):
        unchanged("out")
        mend = failing("rename", "shard.tfrecord", 28, argument=1)
        assert tool("convert", "repo", "out").code == 3
        assert list((box / "out").rglob(".tf2npu-*")) == [box / "out" / "tf2npu-report" / ".tf2npu-report"]
        mend()
        assert tool("convert", "repo", "out").code == 0
        assert os.readlink(box / "out" / "sub" / "shard.tfrecord") == str(large)

    @pytest.mark.parametrize("size", ["4k", "64k", "256k"])
    def test_a_full_disk_costs_no_original(self, box, unchanged, large, size, needs_root):
        unchanged("out")
        (box / "out").mkdir()
        script = 'mount -t tmpfs -o size="$1" tmpfs out && "$2" -m tf2npu convert repo out/new --format json'
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", size, sys.executable],
            cwd=box,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 2, 3), done.stderr
        assert large.stat().st_size == 11 << 20

    def test_a_folder_that_cannot_be_written_costs_no_original(self, box, unchanged, large, needs_root):
        def convert() -> int:
            words = ["-m", "tf2npu", "convert", "repo", "out", "--format", "json"]
            caps = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
            return subprocess.run([*caps, sys.executable, *words], cwd=box, capture_output=True, check=False).returncode

        assert convert() == 0
        unchanged("out", "repo/train.py")
        (box / "out" / "sub" / "shard.tfrecord").unlink()
        (box / "out" / "sub").chmod(0o555)
        (box / "repo" / "train.py").write_text("# edited\n")
        assert convert() == 3
        assert large.stat().st_size == 11 << 20
        (box / "out" / "sub").chmod(0o755)


class TestOddFiles:
    @pytest.mark.parametrize("name", ["big.py", "big.ipynb", "big", "pyproject.toml", ".gitignore", "setup.cfg"])
    def test_a_sparse_file_of_8_tb_costs_neither_memory_nor_time(self, tool, box, name):
        with (box / "repo" / name).open("wb") as stream:
            stream.write(b"#!/usr/bin/python\n" if name == "big" else b"# text\n")
            stream.truncate(8 << 40)
        done = tool("convert", "repo", "out", "--report", "rep")
        assert done.code in (0, 1, 2, 3) and "internal" not in done.err
        if done.code != 2:
            assert "npu_config_proto" in (box / "out" / "train.py").read_text()
            assert os.readlink(box / "out" / name) == str(box / "repo" / name)

    @pytest.mark.parametrize("data", ["copy", "link", "skip"])
    def test_what_cannot_fit_is_not_begun(self, tool, box, data):
        with (box / "repo" / "shard.tfrecord").open("wb") as stream:
            stream.truncate(8 << 40)
        done = tool("convert", "repo", "out", "--data", data)
        assert done.code == (3 if data == "copy" else 0)
        assert ("shard.tfrecord:1:1: failed NPU001 cannot be written: No space left on device" in done.out) == (data == "copy")

    @pytest.mark.parametrize("text", ["import a" + ".a" * 150_000, "import a" + ".a" * 4_000, "y = 1" + " and 1" * 10_000])
    def test_source_that_a_parser_could_not_bear_costs_that_file_at_most(self, tool, box, text):
        """LibCST's parser crashed, and Python's took all memory there is."""
        (box / "repo" / "deep.py").write_text(f"import tensorflow as tf\n{text}\n")
        done = tool("convert", "repo", "out", "--jobs", "1")
        assert done.code == (3 if len(text) > 100_000 else 0)
        assert "npu_config_proto" in (box / "out" / "train.py").read_text()
        assert (box / "out" / "deep.py").read_text().endswith(f"{text}\n")

    @pytest.mark.parametrize("name", ["x" * 252 + ".py", "x" * 255, "\u00e9" * 126 + ".py"])
    def test_names_as_long_as_can_be(self, tool, box, session_source, name):
        (box / "repo" / name).write_text(session_source)
        assert tool("convert", "repo", "out").code == 0
        (box / "out" / name).write_text("mine\n")
        (box / "repo" / name).write_text(session_source + "\n")
        done = tool("convert", "repo", "out")
        assert done.code == 1
        assert (box / "out" / name).read_text() == "mine\n"
        assert len(list((box / "out").glob("*.tf2npu-new"))) == 1
        assert tool("convert", "repo", "out", "--force").code == 0
        assert [path.read_text() for path in (box / "out").glob("*.tf2npu-backup")] == ["mine\n"]
        assert list((box / "out").glob("*.tf2npu-new")) == []


class TestFoundByReview:
    """Defects that an adversarial review reproduced."""

    @pytest.mark.parametrize("source", ["repo/lib/pkg", "repo/lib/pkg/mine.py"])
    def test_in_place_does_not_go_through_a_link_on_the_way(self, tool, box, unchanged, session_source, source):
        (box / "victim" / "pkg").mkdir()
        (box / "victim" / "pkg" / "mine.py").write_text(session_source)
        link(box / "repo" / "lib", box / "victim")
        unchanged()
        done = tool("convert", source, "--in-place", "--report", "rep")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "is or lies behind a symbolic link" in done.err

    def test_the_mode_of_a_folder_is_not_given_to_a_file_in_its_place(self, tool, box, unchanged, monkeypatch):
        (box / "repo" / "sub").mkdir(0o777)
        (box / "repo" / "sub").chmod(0o777)
        (box / "victim" / "secret").write_text("precious")
        (box / "victim" / "secret").chmod(0o600)
        unchanged("out")
        real = Mirror.finish

        def meanwhile(mirror):
            (box / "out" / "sub").rmdir()
            os.link(box / "victim" / "secret", box / "out" / "sub")
            real(mirror)

        monkeypatch.setattr(Mirror, "finish", meanwhile)
        assert tool("convert", "repo", "out").code == 0

    def test_a_link_to_a_script_gets_the_new_name(self, tool, box, unchanged):
        link(box / "repo" / "cur.py", box / "repo" / "train.py")
        unchanged("new", "rep")
        assert tool("convert", "repo/cur.py", "new/npu.py", "--report", "rep", "--force").code == 0
        assert [path.name for path in (box / "new").iterdir()] == ["npu.py"]

    def test_a_file_of_the_source_may_be_called_as_a_new_version(self, tool, box):
        (box / "repo" / "train.py.tf2npu-new").write_text("data")
        for _ in range(2):
            assert tool("convert", "repo", "out").code == 0
            assert (box / "out" / "train.py.tf2npu-new").read_text() == "data"

    def test_one_that_cannot_be_removed_stays_and_is_named(self, tool, box, failing):
        assert tool("convert", "repo", "out").code == 0
        (box / "repo" / "train.py").unlink()
        mend = failing("remove", "train.py", 13)
        done = tool("convert", "repo", "out")
        assert done.code == 1 and "train.py" in done.out
        mend()
        assert tool("convert", "repo", "out").code == 0
        assert not (box / "out" / "train.py").exists()

    def test_one_that_cannot_be_restored_does_not_keep_the_others(self, tool, box, session_source, failing):
        assert tool("convert", "repo", "--in-place", "--report", "rep").code == 0
        mend = failing("rename", "train.py", 1, argument=1)
        done = tool("undo", "repo")
        assert done.code == 1 and "train.py: kept as it is: it cannot be restored: Operation not permitted" in done.out
        assert (box / "repo" / ODD_NAME).read_text() == session_source
        mend()
        assert tool("undo", "repo").code == 0
        assert (box / "repo" / "train.py").read_text() == session_source

    @pytest.mark.parametrize("text", [
        "[" * 200_000, '{"files": {"a": 5}}', '{"files": ["\\ud800", "../../x"], "digest": 1}', "\0", '["a"]',
        '{"path": "a", "before": 1, "after": 2, "original": 5, "mode": "x"}',
    ])  # fmt: skip
    def test_damaged_records_are_none(self, tool, box, text):
        for _ in range(2):
            assert tool("convert", "repo", "out").code in (0, 1, 2)
            assert tool("convert", "repo", "--in-place", "--report", "rep").code in (0, 1, 2)
            records = [path for path in Path(os.environ["XDG_STATE_HOME"]).rglob("*") if path.is_file()]
            assert len(records) >= 3
            for record in records:
                record.write_text(text + "\n")
        assert tool("undo", "repo").code in (0, 1, 2)
        assert tool("scan", "repo", "--report", "rep", "--force").code == 0

    def test_workers_end_with_a_killed_process(self, tool, box, session_source):
        """They held the lock of the report for ever."""
        for number in range(300):
            (box / "repo" / f"m{number}.py").write_text(session_source)
        words = [sys.executable, "-m", "tf2npu", "scan", "repo", "--report", "rep", "--jobs", "2"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not list((box / "rep").glob("files/*.html")):
            time.sleep(0.01)
        process.kill()
        process.wait()
        assert tool("scan", "repo", "--report", "rep").code == 0
