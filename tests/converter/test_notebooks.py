"""Notebooks that cannot be read are named with the reason and stay as they are."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.how_many import drawn
from tf2npu.cli import cli
from tf2npu.engine.convert_file import convert_source, gather_facts
from tf2npu.findings import Level, Status

pytestmark = pytest.mark.each_python

CODE = ["import tensorflow as tf\n", "with tf.Session() as sess:\n", "    pass"]


def cell(source: Any, kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source}


def notebook(*cells: Any, **others: Any) -> str:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 2, **others}, indent=1)


GOOD = notebook(cell(CODE))
OLD = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [{"cell_type": "code", "input": CODE, "language": "python"}]}]}
CONFLICT = GOOD.replace(
    ' "metadata": {},\n "nbformat"',
    '<<<<<<< HEAD\n "metadata": {"a": 1},\n=======\n "metadata": {},\n>>>>>>> theirs\n "nbformat"',
)
UNREADABLE = {
    "conflict": (CONFLICT, CONFLICT[: CONFLICT.index("<<<<")].count("\n") + 1, "an unresolved merge"),
    "conflict_behind": (GOOD + "\n<<<<<<< HEAD\n=======\n>>>>>>> b\n", GOOD.count("\n") + 2, "an unresolved merge"),
    "version_3": (json.dumps(OLD), 1, "a notebook of format 3, which is older than 4"),
    "cut_off": (GOOD[:-3], GOOD[:-3].count("\n") + 1, "broken JSON (Expecting value)"),
    "one_comma_more": (GOOD.replace('"nbformat": 4,', '"nbformat": 4,,'), GOOD[: GOOD.index('"nbformat": 4')].count("\n") + 1,
                       "broken JSON"),
    "two_documents": (GOOD + "{}", GOOD.count("\n") + 1, "broken JSON (Extra data)"),
    "a_list": (f"[{GOOD}]", 1, "its JSON is no object with cells"),
    "no_list_of_cells": (GOOD.replace('"cells"', '"cell"'), 1, "it has no list of cells"),
    "many_digits": (GOOD[:-1] + ', "x": ' + "9" * 5000 + "}", 1, "a number in its JSON has too many digits"),
    "nested": ('{"cells":' + "[" * 20_000 + "]" * 20_000 + ', "tensorflow": 1}', 1, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_notebook_is_named_with_line_and_reason(name: str) -> None:
    text, line, words = UNREADABLE[name]
    result = convert_source(text, "n.ipynb")
    (finding,) = result.findings
    assert result.status is Status.FAILED and result.after == text.encode()
    assert (finding.rule, finding.level, finding.span.line) == ("NPU900", Level.SKIPPED, line)
    assert words in finding.message and "defect" not in finding.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"{", "broken JSON"),
        (notebook().encode(), "the notebook has no cells"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 3\n", "a pointer of Git LFS"),
        (GOOD.encode("utf-16"), "not encoded in UTF-8"),
        (b'{"cells": [], "a": "\xe9"}', "byte 0xe9 is not valid utf-8"),
    ],
)
def test_where_tensorflow_cannot_be_found_for_that_reason_it_is_said_too(data: bytes, words: str) -> None:
    result = convert_source(data, "n.ipynb")
    (finding,) = result.findings
    assert result.after == data and result.status is Status.COPIED
    assert finding.level is Level.INFO and words in finding.message


@pytest.mark.parametrize("source", [None, 3, ["import tensorflow", 1], {}])
def test_a_cell_whose_source_is_no_text_is_left_alone(source: Any) -> None:
    result = convert_source(notebook(cell(source), cell(CODE)), "n.ipynb")
    assert result.status is Status.CONVERTED
    assert [(f.cell, f.level) for f in result.findings if f.rule == "NPU900"] == [(0, Level.SKIPPED)]
    assert json.loads(result.after)["cells"][0]["source"] == source


@pytest.mark.parametrize("magic", ["", "%%local\n", "%%spark\n"])
def test_a_notebook_for_spark_is_python(magic: str) -> None:
    """Its kernel has a name of its own, and the language information repeats that name."""
    text = notebook(cell(f"{magic}import tensorflow as tf\ns = tf.Session()"), metadata={"language_info": {"name": "pyspark"}})
    result = convert_source(text, "x.ipynb")
    assert result.status is Status.CONVERTED and "npu_config_proto()" in result.after.decode()


def test_a_notebook_of_another_language_is_left_alone() -> None:
    text = notebook(cell("library(tensorflow)\nx <- tf$Session()"), metadata={"kernelspec": {"language": "R", "name": "ir"}})
    result = convert_source(text, "n.ipynb")
    assert result.after == text.encode()
    assert [(f.level, f.message) for f in result.findings] == [(Level.INFO, "Not converted: the notebook is written in R.")]


@pytest.mark.parametrize("text", [notebook(cell("# about nothing", "markdown")), notebook(cell("print(1)")), notebook(cell([]))])
def test_a_notebook_without_tensorflow_needs_no_word(text: str) -> None:
    result = convert_source(text, "n.ipynb")
    assert result.status is Status.COPIED and not result.findings


def test_a_conflict_in_a_cell_is_named_as_one_and_the_others_are_converted() -> None:
    conflict = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> theirs"
    result = convert_source(notebook(cell(conflict), cell(CODE)), "n.ipynb")
    assert result.status is Status.CONVERTED
    assert ["an unresolved merge" in f.message for f in result.findings if f.cell == 0] == [True]


def test_a_folder_of_them_is_reported_and_copied(tmp_path: Path) -> None:
    source, out = tmp_path / "src", tmp_path / "out"
    source.mkdir()
    for name, (text, _, _) in UNREADABLE.items():
        (source / f"{name}.ipynb").write_text(text)
    (source / "empty.ipynb").write_text("")
    result = CliRunner().invoke(cli, ["convert", str(source), str(out), "--no-cache", "--jobs", "1"])
    assert result.exit_code == 3 and "Traceback" not in result.output
    assert all((out / path.name).read_bytes() == path.read_bytes() for path in source.iterdir())
    report = json.loads((out / "tf2npu-report" / "report.json").read_text())
    assert {f["path"] for f in report["files"] if f["findings"]} == {path.name for path in source.iterdir()}


SHELL = [
    "! gcloud create `hostname` \\\n  --zone `list 'csv(zone)'`\\\n  --net a \\\n\nimport tensorflow as tf\ns = tf.Session()\n",
    "!pip install -q \\\n    numpy==1 \\\n    # pinned\nimport tensorflow as tf\ns = tf.Session()",
    "import tensorflow as tf\ns = tf.Session()\nout = !ls \\\n  -l {a\nprint(out)",
    "%load_ext \\\n  tensorboard (\nimport tensorflow as tf\ns = tf.Session()",
    "import tensorflow as tf\ns = tf.Session()\nif s:\n    !tar xf \\\n  $name('\n",
]


@pytest.mark.parametrize("text", SHELL)
def test_a_line_for_the_shell_goes_on_behind_a_backslash(text: str) -> None:
    result = convert_source(notebook(cell(text)), "n.ipynb")
    (written,) = json.loads(result.after)["cells"]
    assert not [f for f in result.findings if f.rule == "NPU900"]
    converted = text.replace("tf.Session()", "tf.Session(config=npu_config_proto())")
    added = "from npu_bridge.npu_init import npu_config_proto\n"
    assert written["source"].replace(added, "") == converted


@pytest.mark.parametrize(
    "text", ["%%bash\npython train.py", "# a drawing\n%%svg\n<svg/>", "%%html\n<b>", "%%writefile a.sh\nls ("]
)
def test_a_cell_in_another_language_needs_no_word(text: str) -> None:
    result = convert_source(notebook(cell(text), cell(CODE)), "n.ipynb")
    assert result.status is Status.CONVERTED and not [f for f in result.findings if f.rule == "NPU900"]
    assert json.loads(result.after)["cells"][0]["source"] == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "%%writefile task.py\nimport tensorflow as tf\ns = tf.Session()",
            "%%writefile task.py writes a file: convert that file",
        ),
        ("%%file -a pkg/task.py\nimport tensorflow", "%%file -a pkg/task.py writes a file: convert that file"),
        ("%%cython\nimport tensorflow", "a %%cython cell is not Python of this notebook"),
        ("%%python2\nprint 1", "a %%python2 cell is not Python of this notebook"),
    ],
)
def test_a_cell_that_may_hold_python_is_named(text: str, words: str) -> None:
    result = convert_source(notebook(cell(text), cell(CODE)), "n.ipynb")
    found = [(f.level, f.message) for f in result.findings if f.rule == "NPU900"]
    assert found == [(Level.SKIPPED, f"Cell 0 was not converted: {words}")]


def test_a_broken_cell_of_a_notebook_without_tensorflow_needs_no_word() -> None:
    broken = cell("for x in 1\n")
    about = cell("import jax  # faster than tensorflow")
    assert [f.rule for f in convert_source(notebook(broken, about), "n.ipynb").findings] == ["NPU905"]
    assert [f.cell for f in convert_source(notebook(broken, cell(CODE)), "n.ipynb").findings if f.rule == "NPU900"] == [0]
    alone = convert_source(notebook(cell("import tensorflow as tf\ntf.Session(")), "n.ipynb")
    assert [f.level for f in alone.findings] == [Level.MANUAL]


@pytest.mark.parametrize(
    "text", ["  with tf.Session() as s:\n    s.run(x)\n", "\n# a\n    s = tf.Session()\ny = 1", "\tx = 1\n\n\ttf.Session()"]
)
def test_a_cell_that_is_indented_as_a_whole_is_converted(text: str) -> None:
    first = "from npu_bridge.npu_init import npu_config_proto\nimport tensorflow as tf\nx = 1"
    result = convert_source(notebook(cell(first), cell(text), cell("s = tf.Session()")), "n.ipynb")
    written = [c["source"] for c in json.loads(result.after)["cells"]]
    made = "tf.Session(config=npu_config_proto())"
    assert written == [first, text.replace("tf.Session()", made), f"s = {made}"]
    lines = [(f.cell, f.span.line) for f in result.findings if f.rule == "NPU101"]
    assert lines == [(1, text[: text.index("tf.S")].count("\n") + 1), (2, 1)]


def test_an_indented_cell_with_an_import_is_named() -> None:
    result = convert_source(notebook(cell("  import tensorflow as tf\n  s = tf.Session()")), "n.ipynb")
    assert [(f.cell, f.level) for f in result.findings] == [(0, Level.MANUAL)]


HOROVOD = notebook(
    cell("# Training", "markdown"),
    cell(["import tensorflow as tf\n", "import horovod.tensorflow as hvd"]),
    cell(["hvd.init()\n", "optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1))"]),
)


@pytest.mark.parametrize(("mode", "first", "has_npu_optimizer"), [
    ("none", "Distributed training found: Horovod (n.ipynb:cell 1:2). Converted for a single device; to convert it too,", False),
    ("auto", "Distributed training found: Horovod (n.ipynb:cell 1:2). Converted with --distributed horovod;", True),
])  # fmt: skip
def test_distribution_of_a_notebook_is_found(mode: str, first: str, has_npu_optimizer: bool, tmp_path: Path) -> None:
    """The report's first line names its cell, and `auto` goes by it, though no script of the project is distributed."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "n.ipynb").write_text(HOROVOD)
    (tmp_path / "src" / "evaluate.py").write_text("import tensorflow as tf\nx = tf.zeros([1])\n")
    command = [
        "convert",
        str(tmp_path / "src"),
        str(tmp_path / "out"),
        "--report",
        str(tmp_path / "report"),
        "--distributed",
        mode,
    ]
    done = CliRunner().invoke(cli, command)
    assert done.output.startswith(first), done.output
    after = (tmp_path / "out" / "n.ipynb").read_text()
    assert ("npu_distributed_optimizer_wrapper" in after) is has_npu_optimizer
    assert "hvd" not in after or not has_npu_optimizer
    assert (tmp_path / "out" / "evaluate.py").read_text() == "import tensorflow as tf\nx = tf.zeros([1])\n"


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_notebook_that_cannot_be_read_shows_no_distribution(name: str) -> None:
    data = UNREADABLE[name][0].replace("import tensorflow as tf", "import horovod.tensorflow as tf").encode()
    assert gather_facts("n.ipynb", data).distribution == ()


ODD_VALUES = [None, 1, -1, "x", [], {}, [1], [None], [["a"]], {"a": 1}, True, "\ud800", "\0", 1e400, 10**400, "% x", "%%bash\n"]


@pytest.mark.parametrize("cells", [[1], [None], [["a"]], [{"cell_type": "code", "source": 1}]])
def test_a_cell_that_is_none_is_named_also_where_nothing_mentions_tensorflow(cells: list[Any]) -> None:
    (finding,) = convert_source(notebook(*cells), "n.ipynb").findings
    assert finding.cell == 0 and finding.message.startswith("Cell 0 was not converted: it")


def test_cells_that_are_overridden_by_none_are_named() -> None:
    (finding,) = convert_source(GOOD[:-1] + ', "cells": []}', "n.ipynb").findings
    assert finding.message == "Not converted: the notebook has no cells."


def test_sheets_beside_cells_are_passed_over() -> None:
    assert convert_source(notebook(cell(CODE), worksheets=[]), "n.ipynb").status is Status.CONVERTED
    (finding,) = convert_source(json.dumps({"worksheets": [], "nbformat": 4, "tensorflow": 1}), "n.ipynb").findings
    assert "a notebook of format 3, which is older than 4" in finding.message


@pytest.mark.parametrize("depth", range(900, 1010, 5))
def test_no_depth_is_a_defect(depth: int) -> None:
    for text in ("tensorflow", "nothing"):
        result = convert_source(GOOD[:-1].replace("tensorflow", text) + ', "x": ' + "[" * depth + "]" * depth + "}", "n.ipynb")
        assert not any("defect" in finding.message for finding in result.findings)


@settings(max_examples=drawn(150), deadline=None)
@given(st.integers(0, 2**32))
@example(18296)  # a cell that does not parse holds half a character
def test_a_damaged_notebook_is_converted_or_named_and_never_a_defect(seed: int) -> None:
    rnd = random.Random(seed)
    document = json.loads(notebook(cell(CODE), cell("# text", "markdown"), cell(CODE[0])))
    for _ in range(rnd.randrange(1, 4)):
        at = rnd.choice([document, *(one for one in document.get("cells") or () if isinstance(one, dict))] if isinstance(
            document.get("cells"), list) else [document])  # fmt: skip
        at[rnd.choice([*at, "worksheets"])] = rnd.choice(ODD_VALUES)
    text = json.dumps(document)
    if rnd.random() < 0.3:
        text = text[: rnd.randrange(len(text))]
    result = convert_source(text, "n.ipynb")
    assert not any("defect" in finding.message for finding in result.findings)
    assert result.findings or result.status in (Status.UNCHANGED, Status.COPIED)
    gather_facts("n.ipynb", text.encode())
