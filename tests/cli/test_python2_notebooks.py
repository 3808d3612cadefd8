"""`--python2` with notebooks: the cells print in Python 3 what they printed in Python 2, and lines of IPython stay."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

pytestmark = pytest.mark.each_python

OF_BOTH = ["import tensorflow as tf\nprint 'a'", "x = 7\ny = tf.Session()"]


def notebook(*sources: str) -> bytes:
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)}
        for source in sources
    ]
    kernel = {"kernelspec": {"display_name": "Python 2", "language": "python", "name": "python2"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 0}, indent=1).encode()


@pytest.fixture
def converted(tool, tmp_path):
    """The cells behind a conversion, what was said, and the bytes."""

    def convert(data: bytes, *options: str) -> tuple[list[str], str, bytes]:
        (tmp_path / "a.ipynb").write_bytes(data)
        done = tool("convert", "-v", *options, tmp_path / "a.ipynb", tmp_path / "out")
        made = (tmp_path / "out/a.ipynb").read_bytes()
        return ["".join(cell["source"]) for cell in json.loads(made)["cells"]], done.out + done.err, made

    return convert


def printed(cells: list[str]) -> str:
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for cell in cells:
            exec(cell, names)
    return said.getvalue()


def test_cells_print_what_they_did(converted):
    sources = [
        "import collections  # no tensorflow\nprint 'a', 1",
        "d = {'k': 3}\nn = 7",
        "for k, v in d.iteritems():\n    print k, v",
        "print n / 2, map(str, [n])[0]",
        "print ('x', 'y')",
    ]
    cells, _, _ = converted(notebook("import tensorflow as tf", *sources), "--python2")
    assert printed([cell.replace("import tensorflow as tf", "") for cell in cells]) == "a 1\nk 3\n3 7\n('x', 'y')\n"


def test_lines_of_ipython_and_all_bytes_outside_of_changed_cells_stay(converted):
    sources = [*OF_BOTH, "%matplotlib inline\nfiles = !ls \\\n  -l\nprint files\ntf?", "%%bash\necho print 'x'", "z = 1"]
    cells, said, made = converted(notebook(*sources), "--python2")
    assert cells[2:] == ["%matplotlib inline\nfiles = !ls \\\n  -l\nprint(files)\ntf?", *sources[3:]]
    assert "not converted" not in said
    again = made
    for before, after in zip([OF_BOTH[0], OF_BOTH[1], sources[2]], cells[:3], strict=True):
        lines = (json.dumps(text.splitlines(keepends=True), indent=1).replace("\n", "\n   ") for text in (after, before))
        again = again.replace(*(line.encode() for line in lines))
    assert again == notebook(*sources)


def test_a_name_of_another_cell_is_no_whole_number(converted):
    """A cell may be run again, so that what divides is told, and written anew only where every cell has whole numbers."""
    cells, said, _ = converted(notebook(*OF_BOTH, "print x / 2", "x = y.value", "print x / 2"), "--python2")
    assert cells[2] == "print(x / 2)" and "cell 2:1:1: manual NPU010 Divisions (lines: 1)" in said
    assert "cell 4:1:1: manual NPU010" in said


def test_divisions_of_the_future_are_those_of_all_cells(converted):
    first = "from __future__ import division, print_function\nimport sys"
    cells, said, _ = converted(notebook(first, *OF_BOTH[1:], "print(7 / 2, file=sys.stdout)", "n = xrange(3)"), "--python2")
    assert cells[2:] == ["print(7 / 2, file=sys.stdout)", "n = range(3)"]
    assert "Divisions" not in said


def test_a_cell_that_nobody_reads_is_told_and_the_others_are_converted(converted):
    cells, said, _ = converted(notebook(*OF_BOTH, "print 'x'\nexec 'y = 1'"), "--python2")
    assert cells[0].endswith("print('a')") and cells[2] == "print 'x'\nexec 'y = 1'"
    assert "--python2 cannot do this cell: " in said and "or convert with --python2" not in said


def test_without_the_option_it_is_named(converted):
    cells, said, _ = converted(notebook(*OF_BOTH))
    assert cells[0] == OF_BOTH[0]
    assert (
        "Cell 0 was not converted: Python 3 cannot read the code (print statement)" in said
        and "or convert with --python2" in said
    )


def test_a_notebook_of_python_3_stays_what_it_was(converted):
    source = "import tensorflow as tf\nx = map(str, [7 / 2])\nprint('a', x)"
    cells, _, made = converted(notebook(source), "--python2")
    assert cells == [source] and made == notebook(source)
