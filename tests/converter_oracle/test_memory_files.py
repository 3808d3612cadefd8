"""StringIO of Python 2 becomes the class of io that holds what is written and read: Python itself says whether it takes that."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tf2npu.config import load_config
from tf2npu.findings import Level
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request

HELD: dict[str, tuple[str, Any]] = {
    "bytes that are written": ("from StringIO import StringIO\nf = StringIO()\nf.write(b'ab')\nv = f.getvalue()\n", b"ab"),
    "text that is written": ("import StringIO\nf = StringIO.StringIO()\nf.write('%d b' % 3)\nv = f.getvalue()\n", "3 b"),
    "a file of bytes": (
        "import cStringIO\nimport zipfile\nf = cStringIO.StringIO(open('f', 'rb').read())\nv = zipfile.ZipFile(f).namelist()\n",
        ["a"],
    ),
    "an array": (
        "import cStringIO as S\nimport numpy as np\nf = S.StringIO()\nnp.save(f, [1, 2])\n"
        "v = np.load(S.StringIO(f.getvalue())).sum()\n",
        3,
    ),
    "lines": ("from StringIO import StringIO as F\nimport csv\nv = list(csv.reader(F('a,b')))\n", [["a", "b"]]),
}
UNKNOWN = {
    "nobody can tell": "from StringIO import StringIO\nv = StringIO(x)\n",
    "both": "from StringIO import StringIO\nf = StringIO()\nf.write('a')\nf.write(b'a')\n",
    "another function writes": "from StringIO import StringIO\nf = StringIO()\nf.write('a')\nsomething(f)\n",
    "a subclass": "import StringIO\nclass F(StringIO.StringIO):\n    pass\nv = StringIO.StringIO('a')\n",
    "a name that is taken": "import StringIO\nio = 3\nv = StringIO.StringIO('a')\n",
}
PYTHON2 = "print 'go'\n"


def converted(code: str, folder: Path, first: str = "") -> tuple[str, list[Level]]:
    (folder / "m.py").write_text(f"import tensorflow as tf\n{first}{code}")
    done = convert_project(Request(folder, load_config(folder), use_cache=False, python2=True))
    (result,) = (r for r in done.results if r.path == "m.py")
    levels = [f.level for f in result.findings if f.rule == "NPU962"]
    return result.after.decode() or f"import tensorflow as tf\n{code}", levels


@pytest.mark.parametrize("first", ["", PYTHON2], ids=["both Pythons read it", "Python 2 alone reads it"])
@pytest.mark.parametrize(("code", "value"), HELD.values(), ids=HELD)
def test_a_file_in_memory_takes_what_it_held(code: str, value: Any, first: str, tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a", "text")
    (tmp_path / "f").write_bytes(data.getvalue())
    after, levels = converted(code, tmp_path, first)
    names: dict[str, Any] = {}
    kept = [line for line in after.splitlines() if "tensorflow" not in line and "npu_bridge" not in line]
    exec("\n".join(kept).replace("'f'", repr(str(tmp_path / "f"))), names)
    assert names["v"] == value
    assert set(levels) <= {Level.FIXED}


@pytest.mark.parametrize("code", UNKNOWN.values(), ids=UNKNOWN)
def test_a_file_in_memory_stays_where_it_may_hold_both(code: str, tmp_path: Path) -> None:
    after, levels = converted(code, tmp_path)
    assert code in after
    assert Level.MANUAL in levels


def test_a_notebook_s_cells_are_one_program(tmp_path: Path) -> None:
    cells = [
        "import tensorflow as tf\nimport requests\nfrom PIL import Image\nfrom StringIO import StringIO",
        "answer = requests.get('http://localhost/a.png')\nimage = Image.open(StringIO(answer.content))",
    ]
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": c, "execution_count": None} for c in cells]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}))
    done = convert_project(Request(tmp_path, load_config(tmp_path), use_cache=False))
    (result,) = (r for r in done.results if r.path == "n.ipynb")
    text = result.after.decode()
    assert "from io import BytesIO" in text
    assert "Image.open(BytesIO(answer.content))" in text
