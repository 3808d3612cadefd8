"""An output of ours that lies in a project is no part of it, in no command; what tells it is our record, not its name."""

import json
from pathlib import Path

import pytest

PLAIN = "import tensorflow as tf\nimport model\nwith tf.Session() as s:\n    s.run(tf.constant(1.0))\n"
MODEL = "import tensorflow as tf\n\ndef net(x):\n    return tf.nn.dropout(x, keep_prob=0.9)\n"


@pytest.fixture
def src(tmp_path, monkeypatch) -> Path:
    """A project, which is the current folder."""
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "train.py").write_text(PLAIN)
    (folder / "model.py").write_text(MODEL)
    monkeypatch.chdir(folder)
    return folder


def scanned(tool, *words) -> tuple[list[str], list[str]]:
    """The sources that a scan looks at, and what it says it left out."""
    tool("scan", *(words or (".",)), "--report", "../rep", "--format", "json", "--force")
    report = json.loads(Path("../rep/report.json").read_text())
    return [file["path"] for file in report["files"]], report["summary"]["left_out"]


@pytest.mark.parametrize("name", ["out", "converted", "deep/below/npu"])
def test_an_output_under_any_name_is_left_out(tool, src, name):
    assert tool("convert", "train.py", name, "-q").code == 0
    files, left_out = scanned(tool)
    assert files == ["model.py", "train.py"]
    assert left_out == [f"{name}/ (output of an earlier conversion)"]


def test_several_outputs_are_left_out_with_what_was_made_in_them(tool, src):
    for name in ("out", "out2"):
        tool("convert", "train.py", name, "-q")
        (src / name / "model.ckpt").write_text("numbers")
    assert scanned(tool)[0] == ["model.py", "train.py"]
    assert tool("convert", ".", "../all", "-q").code == 0
    assert sorted(path.name for path in (src.parent / "all").iterdir()) == ["model.py", "tf2npu-report", "train.py"]


def test_a_conversion_in_place_leaves_an_output_as_it_is_and_undo_too(tool, src):
    tool("convert", "train.py", "out", "-q")
    (src / "out/train.py").write_text((src / "out/train.py").read_text() + "tf.Session()\n")  # somebody went on in it
    before = (src / "out/train.py").read_text()
    assert tool("convert", ".", "--in-place", "-q").code == 0
    assert "npu_bridge" in (src / "train.py").read_text() and (src / "out/train.py").read_text() == before
    assert tool("undo", ".").code == 0
    assert (src / "train.py").read_text() == PLAIN and (src / "out/train.py").read_text() == before


def test_an_output_that_is_a_file_beside_sources_takes_none_of_them_along(tool, src):
    tool("convert", "train.py", "train_npu.py", "-q")
    (src.parent / "other.py").write_text(PLAIN)
    files, left_out = scanned(tool, "..")
    assert files == ["other.py", "src/model.py", "src/train.py"]
    assert "src/train_npu.py (output of an earlier conversion)" in left_out


def test_an_output_that_is_named_is_looked_at(tool, src):
    tool("convert", "train.py", "out", "-q")
    assert scanned(tool, "out")[0] == ["train.py"]


def test_sources_that_took_the_place_of_an_output_are_the_users(tool, src):
    tool("convert", "train.py", "out", "-q")
    (src / "out/train.py").write_text(PLAIN)
    files, left_out = scanned(tool)
    assert files == ["model.py", "out/train.py", "train.py"]
    assert not [entry for entry in left_out if "earlier conversion" in entry]


def test_an_excluded_output_is_left_out_too(tool, src):
    tool("convert", "train.py", "out", "-q")
    assert tool("convert", ".", "../all", "-q", "--exclude", "out").code == 0
    assert not (src.parent / "all/out").exists()


def test_what_is_taken_out_of_an_output_is_named(tool, src, tmp_path):
    out = tmp_path / "npu"
    names = [f"{letter}.py" for letter in "abcde"]
    for name in names:
        (src / name).write_text("import tensorflow as tf\n")
    assert "taken out" not in tool("convert", src, out).err
    for name in names:
        (src / name).unlink()
    (out / "e.py").write_text("# mine\n")
    told = tool("convert", src, out)
    assert f"4 files of an earlier conversion taken out of {out}, as {src} has no source for them" in told.err
    assert told.err.rstrip().endswith(": a.py, b.py, c.py and 1 more") and (out / "e.py").exists()
    assert "taken out" not in tool("convert", src, out).err


def test_a_file_that_is_converted_into_a_folder_takes_nothing_out(tool, src, tmp_path):
    (src / "other.py").write_text("import tensorflow as tf\n")
    out = tmp_path / "npu"
    tool("convert", src, out)
    assert "taken out" not in tool("convert", src / "other.py", out).err
