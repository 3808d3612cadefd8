"""Code that Python 2 ran and Python 3 fails on at run time: each claim is tried in the Python that runs these tests."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts

HEAD = "import tensorflow as tf\n"


def told(code: str) -> list[int]:
    """Lines of the code that are told."""
    return [f.span.line - 1 for f in convert_source(HEAD + code, "m.py").findings if f.rule == "NPU962"]


def fails(code: str, folder: Path) -> bool:
    """Whether Python 3 ends in a TypeError, an AttributeError or a UnicodeDecodeError when it runs the code."""
    (folder / "bytes").write_bytes(b"\x80\x03}q\x00.")
    (folder / "text").write_text("a,b\n")
    try:
        exec(code.replace("'bytes'", repr(str(folder / "bytes"))).replace("'text'", repr(str(folder / "text"))), {})
    except (TypeError, AttributeError, UnicodeDecodeError):
        return True
    except Exception as error:  # the csv module has an exception of its own
        return type(error).__name__ == "Error"
    return False


BATCHES = "class B(object):\n def __init__(self):\n  self.n = 0\n{}\n def next(self):\n  self.n += 1\n  return self.n\n{}"
ITSELF = " def __iter__(self):\n  return self\n"
LEFT = [
    (BATCHES.format(ITSELF, "for b in B():\n break\n"), 1),
    (BATCHES.format(" pass", "b = B()\nnext(b)\n"), 1),
    ("def f():\n yield 1\ng = f()\ng.next()", 4),
    ("it = iter([1])\nit.next()", 2),
    ("{'a': 1}.has_key('a')", 1),
    ("d = {}\nfor k, v in d.iteritems():\n pass", 2),
    ("d = dict(a=1)\nd.itervalues()", 2),
    ("pairs = zip([1], [2])\npairs[0]", 2),
    ("map(str, [1])[0]", 1),
    ("len(filter(None, [1]))", 1),
    ("import random\norder = range(9)\nrandom.shuffle(order)", 3),
    ("import pickle\npickle.dump({}, open('text', 'w'))", 2),
    ("import pickle\nwith open('bytes') as f:\n pickle.load(f)", 3),
    ("try:\n import cPickle as pickle\nexcept ImportError:\n import pickle\nf = open('bytes', 'r')\npickle.load(f)", 6),
    ("import json\nwith open('text', 'wb') as f:\n json.dump({}, f)", 3),
    ("import csv\nlist(csv.reader(open('text', 'rb')))", 2),
    ("import csv\ncsv.writer(open('text', 'wb')).writerow([1])", 2),
]
FINE = [
    BATCHES.format(ITSELF, " __next__ = next\nfor b in B():\n break\n"),
    BATCHES.format(" pass", "b = B()\nb.next()\n"),
    "class Base(object):\n def __next__(self):\n  return self.next()\n" + BATCHES.format(ITSELF, "").replace("object", "Base"),
    "class B(object):\n def __iter__(self):\n  return iter([1])\n def next(self):\n  return 1\nfor b in B():\n pass",
    "class R(object):\n def next(self):\n  return 1\nr = R()\nr.next()",
    "class H(object):\n def has_key(self, key):\n  return True\nH().has_key(3)",
    "pairs = list(zip([1], [2]))\npairs[0]",
    "order = range(9)\norder[0]\nlen(order)",
    "import random\norder = list(range(9))\nrandom.shuffle(order)",
    "def zip(*given):\n return list(given)\nzip(1, 2)[0]",
    "d = {}\ntry:\n d.iteritems()\nexcept AttributeError:\n d.items()",
    "import pickle\npickle.dump({}, open('text', 'wb'))",
    "import pickle\nwith open('bytes', 'rb') as f:\n pickle.load(f)\nwith open('text') as f:\n f.read()",
    "import json\njson.dump({}, open('text', 'w'))\njson.load(open('text', 'rb'))",
    "import csv\nlist(csv.reader(open('text')))",
]


@pytest.mark.parametrize(("code", "line"), LEFT)
def test_what_python_3_fails_on_is_told(code: str, line: int, tmp_path: Path) -> None:
    assert told(code) == [line]
    assert fails(code, tmp_path)


@pytest.mark.parametrize("code", FINE)
def test_what_python_3_runs_is_not(code: str, tmp_path: Path) -> None:
    assert told(code) == []
    assert not fails(code, tmp_path)


def test_what_cannot_be_seen_is_not_told() -> None:
    sequence = "import keras\nclass B(keras.utils.Sequence):\n def __iter__(self):\n  return self\n def next(self):\n  return 1"
    assert told(sequence) == []
    assert told("import pandas as pd\nfor k, v in pd.read_csv('x').iteritems():\n    pass") == []
    assert told("import six\nfor k, v in six.iteritems(d):\n    pass") == []
    assert told("import sys\nif sys.version_info[0] == 2:\n    items = d.iteritems()") == []


def test_files_that_take_part_without_tensorflow_are_told_too() -> None:
    files = {
        "data.py": "import pickle\nd = pickle.load(open('x'))\n",
        "train.py": HEAD + "import data\n",
        "alone.py": "map(str, x)[0]\n",
    }
    project = ProjectFacts.merge(gather_facts(path, text.encode()) for path, text in files.items())
    found = {
        path: [f.rule for f in convert_file(path, text.encode(), Config(), project).findings] for path, text in files.items()
    }
    assert "NPU962" in found["data.py"] and found["alone.py"] == []


@pytest.mark.parametrize(
    "name", ["Queue", "cPickle", "StringIO", "ConfigParser", "urllib2", "Tkinter", "commands", "thread", "__builtin__"]
)
def test_a_module_of_python_2_is_told_where_it_is_imported(name: str) -> None:
    with pytest.raises(ImportError):
        importlib.import_module(name)
    assert told(f"import {name}\nx = {name}.y") == [1] and told(f"from {name} import y") == [1]
    assert told(f"try:\n    import {name}\nexcept ImportError:\n    {name} = None") == []
    assert told(f"import six\nif six.PY2:\n    import {name}") == [] and told(f"from .{name} import y") == []


@pytest.mark.parametrize("name", ["commands", "parser", "Queue"])
def test_a_module_of_the_project_is_not_the_library_s(name: str) -> None:
    files = {f"{name}.py": "def run():\n    pass\n", "train.py": f"{HEAD}import {name}\n{name}.run()\n"}
    project = ProjectFacts.merge(gather_facts(path, text.encode()) for path, text in files.items())
    assert [f.rule for f in convert_file("train.py", files["train.py"].encode(), Config(), project).findings] == []
