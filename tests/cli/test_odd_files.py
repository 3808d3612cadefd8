"""Every kind of file and name in one project: what is source is converted, what is not stays, nothing ends the run."""

import json
import os

import pytest

from tests.cli.test_convert import file_in, report_of, tree
from tests.report.applied_changes import apply_changes
from tf2npu.findings import Span
from tf2npu.report.model.report import Change

BODY = "import tensorflow as tf\nwith tf.Session() as s:\n    s.run(**k)\n"
NAMES = ("UP.PY", "gui.pyw", "a/util.py", "b/util.py", "new\nline.py", '<b>&".py', "tool", "tool2", "a.b.py", "-dash.py")


def notebook(*cells: list[str]) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": ["kept"], "execution_count": 3, "source": lines} for lines in cells]
    return json.dumps({"cells": made, "metadata": {"x": [1, 2]}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


@pytest.fixture
def odd(tmp_path):
    root = tmp_path / "src"
    for name in NAMES:
        shebang = {"tool": "#!/usr/bin/env python3\n", "tool2": "#! /usr/bin/python -u\n"}.get(name, "")
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(shebang + BODY)
    cells = (
        ["%matplotlib inline\n", "import tensorflow as tf"],
        ["# text\n", "e = tf.estimator.Estimator(**k)\n", "t = tf.Session()\n"],
    )
    for name in ("n.ipynb", "N2.IPYNB"):
        (root / name).write_text(notebook(*cells))
    (root / "script.sh").write_text("#!/bin/sh\n" + BODY)
    (root / "sh").write_text("#!/bin/sh\n" + BODY)
    (root / "folder.py").mkdir()
    for name in ("pipe", "pipe.py"):
        os.mkfifo(root / name)
    for name, target in (("loop", "loop"), ("l1.py", "l2.py"), ("l2.py", "l1.py"), ("self", "."), ("up", "..")):
        (root / name).symlink_to(target)
    return root


def test_all_at_once(tool, odd, tmp_path):
    done = tool("convert", odd, tmp_path / "out", "--format", "html,json,sarif,text,gitlab,junit,github")
    assert done.code == 1
    out = tmp_path / "out"
    for name in (*NAMES, "n.ipynb", "N2.IPYNB"):
        assert "npu_config_proto" in (out / name).read_text(), name
    for name in ("script.sh", "sh"):
        assert (out / name).read_bytes() == (odd / name).read_bytes()
    for name in ("loop", "l1.py", "l2.py", "self"):
        assert os.readlink(out / name) == os.readlink(odd / name)
    assert not (out / "pipe").exists()
    assert not (out / "pipe.py").exists()
    document = report_of(out / "tf2npu-report")
    said = {f["path"]: {n["rule"] for n in f["findings"]} for f in document["files"]}
    assert said["pipe"] == said["pipe.py"] == {"NPU002"}
    assert all("NPU007" in said[name] for name in ("loop", "l1.py", "l2.py", "up"))


def test_findings_in_notebooks_name_cell_and_line(tool, odd, tmp_path):
    tool("convert", odd, tmp_path / "out")
    for name in ("n.ipynb", "N2.IPYNB"):
        found = file_in(report_of(tmp_path / "out" / "tf2npu-report"), name)["findings"]
        assert {(f["rule"], f["level"], f["cell"], f["line"]) for f in found} >= {
            ("NPU201", "manual", 1, 2),
            ("NPU101", "fixed", 1, 3),
        }
        before, after = json.loads((odd / name).read_text()), json.loads((tmp_path / "out" / name).read_text())
        assert after["cells"][0]["source"][0] == "%matplotlib inline\n"
        for document in (before, after):
            for cell in document["cells"]:
                del cell["source"]
        assert before == after


def test_in_place_and_back(tool, odd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = {name: content for name, content in tree(odd).items() if not name.startswith("pipe")}
    (odd / "pipe").unlink()
    (odd / "pipe.py").unlink()
    assert tool("convert", odd, "--in-place").code == 1
    assert "npu_config_proto" in (odd / "tool").read_text()
    assert tool("undo", odd).code == 0
    assert tree(odd) == before


def test_a_module_of_the_same_name_elsewhere_is_not_confused(tool, tmp_path):
    root = tmp_path / "src"
    for folder in ("one", "two"):
        (root / folder).mkdir(parents=True)
        (root / folder / "__init__.py").write_text("")
    (root / "one" / "compat.py").write_text("import tensorflow as tf\nSession = tf.Session\n")
    (root / "two" / "compat.py").write_text("class Session:\n    pass\n")
    for folder in ("one", "two"):
        (root / folder / "use.py").write_text(f"from {folder}.compat import Session\nwith Session() as s: pass\n")
    tool("convert", root, tmp_path / "out")
    assert "npu_config_proto" in (tmp_path / "out" / "one" / "use.py").read_text()
    assert "npu" not in (tmp_path / "out" / "two" / "use.py").read_text()


@pytest.mark.parametrize("name", ["pipe.py", "loop"])
def test_one_that_is_no_file_as_src(tool, odd, tmp_path, name):
    done = tool("convert", odd / name, tmp_path / "out")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_lines_that_end_with_a_carriage_return_alone(tool, tmp_path):
    source = tmp_path / "src" / "m.py"
    source.parent.mkdir()
    text = 'import tensorflow as tf\nx = """a\nb"""\nwith tf.Session() as s:\n    tf.nn.dropout(x,\n                  0.5)\n'
    source.write_bytes(text.replace("\n", "\r").encode())
    (tmp_path / "lf.py").write_text(text)
    tool("convert", source.parent, tmp_path / "out")
    tool("convert", tmp_path / "lf.py", tmp_path / "out2")
    expected = (tmp_path / "out2" / "lf.py").read_bytes().replace(b"\n", b"\r")
    assert (tmp_path / "out" / "m.py").read_bytes() == expected != source.read_bytes()
    file = file_in(report_of(tmp_path / "out" / "tf2npu-report"), "m.py")
    assert file["source"].encode() == source.read_bytes()
    changes = [Change(c["rule"], Span(c["line"], c["column"], c["end_line"], c["end_column"]), c["new"]) for c in file["changes"]]
    assert apply_changes(file["source"], changes).encode() == expected
    assert tool("convert", tmp_path / "out", "--check").code == 0
