"""Pickles that Python 2.7 wrote, and arrays of objects: Python 3 and NumPy refuse them, and read them once converted."""

from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tf2npu.config import load_config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request

OF_2_7 = {  # cPickle.dumps({'name': 'caf\xe9', 'x': [1]}, protocol) of Python 2.7.18
    0: b"(dp1\nS'x'\n(lp2\nI1\nasS'name'\np3\nS'caf\\xe9'\np4\ns.",
    2: b"\x80\x02}q\x01(U\x01x]q\x02K\x01aU\x04nameq\x03U\x04caf\xe9q\x04u.",
}
READ = {"name": "caf\xe9", "x": [1]}
WAYS = {
    "load": "import pickle\nv = pickle.load(open('f', 'rb'))\n",
    "a mode that is text": "import pickle\nwith open('f') as f:\n    v = pickle.load(f)\n",
    "loads": "import pickle\nv = pickle.loads(open('f', 'rb').read())\n",
    "Unpickler": "import pickle\nv = pickle.Unpickler(open('f', 'rb')).load()\n",
    "an alias": "from pickle import load as read\nv = read(open('f', 'rb'))\n",
    "cPickle": "import cPickle\nv = cPickle.load(open('f', 'rb'))\n",
    "cPickle, renamed": "import cPickle as pickle\nv = pickle.load(open('f', 'rb'))\n",
    "either": "try:\n    import cPickle as p\nexcept ImportError:\n    import pickle as p\nv = p.load(open('f', 'rb'))\n",
    "six": "from six.moves import cPickle\nv = cPickle.load(open('f', 'rb'))\n",
}
PYTHON2 = "import tensorflow as tf\nprint 'go'\n"


def converted(code: str, folder: Path, first: str = PYTHON2) -> str:
    """A script once converted, in a project of Python 2 if `first` is."""
    (folder / "m.py").write_text(first + code)
    done = convert_project(Request(folder, load_config(folder), use_cache=False, python2=True))
    (result,) = (r for r in done.results if r.path == "m.py")
    return result.after.decode() or first + code  # nothing is kept of what stays as it is


def value_of(code: str, folder: Path) -> Any:
    names: dict[str, Any] = {}
    kept = [
        line for line in code.splitlines() if not line.startswith(("import tensorflow", "print")) and "npu_bridge" not in line
    ]
    exec("\n".join(kept).replace("'f'", repr(str(folder / "f"))), names)
    return names["v"]


@pytest.mark.parametrize("code", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("protocol", OF_2_7)
def test_a_pickle_of_python_2_is_read(protocol: int, code: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(OF_2_7[protocol])
    after = converted(code, tmp_path)
    with pytest.raises(UnicodeDecodeError):
        value_of(after.replace(", encoding='latin1'", ""), tmp_path)
    assert value_of(after, tmp_path) == READ


def test_a_pickle_of_python_3_is_read_as_before(tmp_path: Path) -> None:
    stored = {"name": "\u5f20", "raw": b"caf\xe9", "x": np.arange(3)}
    (tmp_path / "f").write_bytes(pickle.dumps(stored))
    found = value_of(converted(WAYS["load"], tmp_path), tmp_path)
    assert (found["name"], found["raw"], found["x"].tolist()) == ("\u5f20", b"caf\xe9", [0, 1, 2])


KEPT = {
    "asked for": ("import pickle\nv = pickle.load(open('f', 'rb'), encoding='bytes')\n", PYTHON2),
    "given by others": ("import pickle\nv = pickle.load(open('f', 'rb'), **how)\n", PYTHON2),
    "tried": ("import pickle\ntry:\n    v = pickle.load(f)\nexcept UnicodeDecodeError:\n    v = 0\n", PYTHON2),
    "another load": ("import json\nv = json.load(open('f'))\n", PYTHON2),
    "no file of Python 2": ("import pickle\nv = pickle.load(open('f', 'rb'))\n", "import tensorflow as tf\n"),
}


@pytest.mark.parametrize(("code", "first"), KEPT.values(), ids=KEPT)
def test_other_reading_is_kept(code: str, first: str, tmp_path: Path) -> None:
    assert converted(code, tmp_path, first).endswith(code)


def test_a_second_conversion_changes_nothing(tmp_path: Path) -> None:
    once = converted(WAYS["Unpickler"], tmp_path)
    assert converted(once, tmp_path, "") == once


OBJECTS = {
    "item": "v = np.load('f').item()\n",
    "the index of nothing": "v = np.load('f')[()]\n",
    "by a name": "stored = np.load('f')\nv = stored.item()\n",
    "by a name and an index": "stored = np.load('f')\nv = stored[()]\n",
    "an encoding": "w = np.load('f', encoding='latin1')\nv = w.tolist()\n",
}


@pytest.mark.parametrize("code", OBJECTS.values(), ids=OBJECTS)
def test_a_file_of_objects_is_read(code: str, tmp_path: Path) -> None:
    np.save(stream := io.BytesIO(), {"conv1": [1, 2]})
    (tmp_path / "f").write_bytes(stream.getvalue())
    code = f"import numpy as np\n{code}"
    with pytest.raises(ValueError, match="allow_pickle=False"):
        value_of(code, tmp_path)
    assert value_of(converted(code, tmp_path, "import tensorflow as tf\n"), tmp_path) == {"conv1": [1, 2]}


def test_a_file_of_objects_that_python_2_wrote_is_read(tmp_path: Path) -> None:
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (), }"
    header += b" " * (118 - 1 - len(header)) + b"\n"
    pickled = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87Rq\x03(K\x01)cnumpy\ndtype"
    )
    pickled += b"\nq\x04U\x02O8K\x00K\x01\x87Rq\x05(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89]q\x06}q\x07"
    pickled += b"U\x01wU\x01\xe9satb."
    (tmp_path / "f").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + pickled)
    code = "import numpy as np\nv = np.load('f').item()\n"
    after = converted(code, tmp_path)
    assert "allow_pickle=True, encoding='latin1'" in after
    with pytest.raises((UnicodeDecodeError, UnicodeError)):
        value_of(after.replace(", encoding='latin1'", ""), tmp_path)
    assert value_of(after, tmp_path) == {"w": "\xe9"}


def test_numbers_are_left(tmp_path: Path) -> None:
    code = "import numpy as np\nx = np.load('f')\ny = np.load('f', allow_pickle=False).item()\nz = x.sum().item()\n"
    assert converted(code, tmp_path, "import tensorflow as tf\n").endswith(code)


def test_gzip_and_a_mode_are_mended_together(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "f", "wb") as stream:
        stream.write(OF_2_7[2])
    code = "import cPickle, gzip\nv = cPickle.load(gzip.open('f'))\n"
    assert value_of(converted(code, tmp_path), tmp_path) == READ


def test_the_edit_is_told() -> None:
    code = "import cPickle\nimport tensorflow as tf\nv = cPickle.load(open('f', 'rb'))\n"
    found = [f for f in convert_source(code, "m.py").findings if "latin1" in f.message]
    assert [(f.rule, f.level, f.span.line) for f in found] == [("NPU962", Level.FIXED, 3)]
