"""The acceptance checkers see each kind of damage when it is there, and none when it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import corpora
from benchmarks.acceptance import outside_bytes, properties
from benchmarks.acceptance.checkouts import REPOSITORIES, Absent, bring
from benchmarks.acceptance.measured import run
from benchmarks.acceptance.trial import _imported, attempt


def place(line: int, column: int, end_line: int, end_column: int, new: str) -> dict:
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column, "new": new}


def test_reported_replacements_are_not_outside():
    before, after = b"a = 1\r\nb = f(x)\r\n", b"a = 1\r\nb = g(x, y)\r\n"
    changes = [place(2, 5, 2, 6, "g"), place(2, 8, 2, 8, ", y")]
    assert outside_bytes.bytes_changed(before, after, changes) == 0


@pytest.mark.parametrize("after", [b"a = 1\nb = 3\n\n", b"a = 1\r\nb = 3\n", b"a = 2\nb = 3\n"])
def test_a_byte_outside_is_counted(after):
    assert outside_bytes.bytes_changed(b"a = 1\nb = 2\n", after, [place(2, 5, 2, 6, "3")]) > 0


def test_encodings_and_marks_are_kept_apart_from_text():
    text = "# coding: gbk\nname = '训练'\n"
    changes = [place(2, 9, 2, 10, "试")]
    assert outside_bytes.bytes_changed(text.encode("gbk"), text.replace("训", "试").encode("gbk"), changes) == 0
    assert outside_bytes.bytes_changed(b"\xef\xbb\xbfa = 1\n", b"a = 2\n", [place(1, 5, 1, 6, "2")]) == 3


def test_cells_that_no_finding_names():
    def notebook(*sources: str, execution: int = 1) -> bytes:
        return json.dumps({"cells": [{"source": s, "execution_count": execution} for s in sources]}).encode()

    named = [{"cell": 1, "level": "fixed"}]
    assert outside_bytes.cells_changed(notebook("a", "b"), notebook("a", "c"), named) == 0
    assert outside_bytes.cells_changed(notebook("a", "b"), notebook("x", "c"), named) == 1
    assert outside_bytes.cells_changed(notebook("a", "b"), notebook("a", "c", execution=2), named) == 1


def test_the_outside_checker_imports_nothing_of_the_project():
    source = Path(outside_bytes.__file__).read_text()
    assert "tf2npu" not in "".join(line for line in source.splitlines() if line.startswith(("import", "from")))


def damaged(tmp_path: Path, before: str, after: str, rules: tuple[str, ...] = (), is_imported: bool = False):
    for name, text in (("src", before), ("out", after)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(text)
    return properties.check(tmp_path / "src", tmp_path / "out", "m.py", frozenset(rules), is_imported)


def test_no_damage(tmp_path):
    found = damaged(tmp_path, "import a\na.b()  # why\n", "import a, c\na.b(c)  # why\n")
    assert all(getattr(found, kind) == [] for kind in properties.KINDS)


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("unparsable", "a = 1\n", "a = = 1\n"),
        ("undefined", "import a\na\n", "import a\na(b)\n"),
        ("undefined", "a = 1\ndef f():\n    print(a)\n", "a = 1\ndef f():\n    print(a)\n    a = 2\n"),
        ("undefined", "a = 1\ndef f():\n    a = 2\n", "a = 1\ndef f():\n    print(a)\n    a = 2\n"),
        ("undefined_by_star", "from a import *\n", "from a import *\nb\n"),
        ("comments_lost", "a = 1  # one\n# two\n", "a = 1\n# two\n"),
    ],
)
def test_damage(tmp_path, kind, before, after):
    assert len(getattr(damaged(tmp_path, before, after), kind)) == 1


def test_a_local_that_was_read_too_early_before_is_not_ours(tmp_path):
    """pyflakes does not see it before, because the comprehension reads the global."""
    source = "a = 1\ndef f():\n    print(a{})\n    a = 2\n"
    assert damaged(tmp_path, source.format(", [a for b in c]"), source.format("")).undefined == []


def test_a_name_that_was_undefined_before_is_not_ours(tmp_path):
    assert damaged(tmp_path, "a(b)\n", "a(b, 1)\n").undefined == []


def test_an_import_in_a_module_that_needs_none(tmp_path):
    before, after = "import tensorflow\n", "import npu_bridge.npu_init\nimport tensorflow\n"
    assert len(damaged(tmp_path, before, after, ("NPU100",), is_imported=True).lone_imports) == 1


def test_modes(tmp_path):
    (tmp_path / "a").write_text("")
    (tmp_path / "b").write_text("")
    (tmp_path / "b").chmod(0o755)
    assert properties.mode_differences(tmp_path / "a", tmp_path / "b") == ["a: mode 644 became 755"]
    assert properties.mode_differences(tmp_path / "a", tmp_path / "c") == ["a: missing"]


def test_who_imports_whom(tmp_path):
    files = {
        "one/train.py": "import model\nfrom .parts import layers\n",
        "one/model.py": "",
        "one/parts/__init__.py": "",
        "one/parts/layers.py": "",
        "two/model.py": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert _imported(tmp_path, list(files)) == {"one/model.py", "one/parts/__init__.py", "one/parts/layers.py"}


def git_repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "train.py").write_text("import tensorflow as tf\nwith tf.Session() as sess:  # run\n    sess.run([])\n")
    (folder / "train.py").chmod(0o755)
    (folder / "link.py").symlink_to("train.py")
    (folder / "notes.txt").write_text("notes\n")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder


def test_a_bare_git_directory_is_unpacked_with_modes_and_links(tmp_path):
    origin = git_repository(tmp_path / "origin")
    brought = bring(REPOSITORIES[0], origin / ".git", tmp_path / "into")
    assert brought.folder != origin and len(brought.version) == 40 and brought.n_absent == 0
    assert (brought.folder / "train.py").stat().st_mode & 0o777 == 0o755
    assert (brought.folder / "link.py").readlink() == Path("train.py")
    assert bring(REPOSITORIES[0], origin, tmp_path / "unused").folder == origin


def test_a_folder_that_is_not_there_is_named_with_its_public_home(tmp_path):
    with pytest.raises(Absent, match=r"bert: .* the public repository is https://"):
        bring(REPOSITORIES[0], tmp_path / "nowhere", tmp_path)


def test_a_whole_trial(tmp_path):
    brought = bring(REPOSITORIES[0], git_repository(tmp_path / "origin") / ".git", tmp_path / "into")
    trial = attempt(brought, tmp_path / "trial", 1, measure_cpu=True)
    assert (trial.n_files, trial.n_changed, trial.has_failed) == (2, 1, False), {k: v for k, v in trial.violations.items() if v}
    assert trial.alone is not None and trial.bare is not None and trial.bare.code == 0


def test_asked_for_nothing_everything_is_absent(capsys):
    assert corpora.main([]) == corpora.ABSENT
    assert all(repository.where in capsys.readouterr().out for repository in REPOSITORIES[:1])


def test_one_absent_corpus_exits_77(tmp_path, capsys):
    assert corpora.main(["--bert", str(tmp_path / "nowhere")]) == corpora.ABSENT
    assert "absent: bert" in capsys.readouterr().out


def test_memory_and_output_of_a_command_are_measured():
    cost = run([sys.executable, "-c", "import time; a = b'x' * 50_000_000; time.sleep(1); print(len(a))"])
    assert cost.stdout == "50000000\n" and cost.code == 0
    assert cost.peak_bytes > 40e6 or not Path("/proc/self/smaps_rollup").exists()
