"""`--python2` over a whole project: files that Python 3 reads, too, and imports of siblings do what Python 2 did with them.

What Python 2.7 prints was worked out by hand, from PEP 328 and from What's New in Python 3.0.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_convert import file_in, report_of

pytestmark = pytest.mark.each_python

OLD = "print 'old'\n"
SAME = {"main.py": OLD}
# What both Pythons read, beside a file that only Python 2 reads: the source, and what Python 2.7 prints for it.
MEANINGS = {
    "values given on": ("def show(v):\n    return v[0]\nd = {1: 'a'}\nprint(show(d.values()))", "a\n"),
    "keys that are sorted": ("d = {2: 1, 1: 1}\nk = d.keys()\nk.sort()\nprint(k)", "[1, 2]\n"),
    "pop in a loop": ("d = {1: 1, 2: 2}\nfor k, v in d.items():\n    d.pop(k)\nprint(d)", "{}\n"),
    "del in a loop over keys": ("d = {1: 1, 2: 2}\nfor k in d.keys():\n    del d[k]\nprint(d)", "{}\n"),
    "map is indexed": ("m = map(str, [1, 2])\nprint(m[1])", "2\n"),
    "filter is measured": ("m = filter(None, [0, 1])\nprint(len(m))", "1\n"),
    "zip is used twice": ("z = zip([1], [2])\nprint(sum(a for a, b in z) + sum(b for a, b in z))", "3\n"),
    "zip is given on": ("def n(rows):\n    return len(rows)\nprint(n(zip([1], [2])))", "1\n"),
    "whole numbers are divided": ("n = 7\nhalf = n / 2\nprint([0, 1, 2, 3][half])", "3\n"),
    "real numbers are divided": ("n = 7.0\nprint(n / 2)", "3.5\n"),
    "divisions as asked for": ("from __future__ import division\nprint(7 / 2)", "3.5\n"),
    "has_key": ("d = {1: 1}\nprint(d.has_key(1))", "True\n"),
    "iterators": ("class C(object):\n    def next(self):\n        return 7\nprint(next(C()))", "7\n"),
    "truth": ("class C(object):\n    def __nonzero__(self):\n        return False\nprint(bool(C()))", "False\n"),
    "moved modules": ("import cPickle\nimport Queue\nprint(cPickle.loads(cPickle.dumps(1)))", "1\n"),
    "a name that is gone": ("print(sum(xrange(3)))", "3\n"),
}
# What stays, as it was written for both, or for Python 3 alone.
STAYING = {
    "a test of versions": "import sys\nif sys.version_info[0] < 3:\n    range = xrange\nd = {}\nk = d.keys()\n",
    "an f-string": "d = {}\nk = d.keys()\nprint(f'{k}')\n",
    "an annotation": "def f(d: dict):\n    return d.keys()\n",
    "super of Python 3": "class A:\n    def f(self, d):\n        super().f(d.keys())\n",
    "nothing to do": "x = 1\nprint(x)\n",
}
# Files of a project whose `main.py` is run, and what it prints.
PACKAGES = {
    "a sibling": ({"net/a.py": "import words\nprint words.X\n"}, "words\n"),
    "a sibling under another name": ({"net/a.py": "import words as w\nprint w.X\n"}, "words\n"),
    "names of a sibling": ({"net/a.py": "from words import X as y\nprint y\n"}, "words\n"),
    "all names of a sibling": ({"net/a.py": "from words import *\nprint X\n"}, "words\n"),
    "several, some of them elsewhere": (
        {"net/a.py": "import os, words, sys as s\nprint words.X, os.sep, s.argv[1:]\n"}, "words / []\n",
    ),
    "in a function": ({"net/a.py": "def f():\n    import words\n    return words.X\nprint f()\n"}, "words\n"),
    "in one line": ({"net/a.py": "import os; import words; print words.X\n"}, "words\n"),
    "a package beside": (
        {"net/a.py": "import sub.deep\nprint sub.deep.Y\n", "net/sub/__init__.py": "", "net/sub/deep.py": "Y = 'deep'\n"},
        "deep\n",
    ),
    "a package beside, under another name": (
        {"net/a.py": "import sub.deep as d\nprint d.Y\n", "net/sub/__init__.py": "", "net/sub/deep.py": "Y = 'deep'\n"},
        "deep\n",
    ),
    "from a package beside": (
        {"net/a.py": "from sub.deep import Y\nprint Y\n", "net/sub/__init__.py": "", "net/sub/deep.py": "Y = 'deep'\n"},
        "deep\n",
    ),
    "the file of a package": ({"net/__init__.py": "from words import X\nprint X\n", "net/a.py": "pass\n"}, "words\n"),
    "a sibling before the library's": ({"net/a.py": "import queue\nprint queue.X\n", "net/queue.py": "X = 'own'\n"}, "own\n"),
    "a sibling that Python 3 reads, too": (
        {"net/a.py": "import between\n", "net/between.py": "from words import X\nprint(X)\n"}, "words\n",
    ),
    "what is asked for as absolute": (
        {
            "net/a.py": "from __future__ import absolute_import\nimport string\nprint string.digits[:2]\n",
            "net/string.py": "digits = 'own'\n",
        },
        "01\n",
    ),
    "a sibling with the name of a library's module": (
        {"net/a.py": "import json\nprint json.X\n", "net/json.py": "X = 'own'\n"}, "own\n",
    ),
    "a sibling of a subfolder": (
        {
            "net/a.py": "import sub.b\n", "net/sub/__init__.py": "",
            "net/sub/b.py": "import c\nprint c.Z\n", "net/sub/c.py": "Z = 'c'\n",
        },
        "c\n",
    ),
}  # fmt: skip


def converted(tool, root: Path, files: dict[str, str], *options: str) -> Path:
    for path, text in files.items():
        (root / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "src" / path).write_text(text)
    tool("convert", root / "src", root / "out", *options)
    return root / "out"


def printed(script: Path) -> str:
    done = subprocess.run([sys.executable, script.name], cwd=script.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("name", MEANINGS)
def test_what_both_read_does_what_python_2_did(tool, tmp_path, name):
    source, wanted = MEANINGS[name]
    out = converted(tool, tmp_path, {**SAME, "m.py": source + "\n"}, "--python2")
    assert printed(out / "m.py") == wanted
    tool("convert", out, tmp_path / "again", "--python2")
    assert (tmp_path / "again" / "m.py").read_text() == (out / "m.py").read_text()


@pytest.mark.parametrize("name", STAYING)
def test_what_was_not_meant_for_python_2_alone_stays(tool, tmp_path, name):
    out = converted(tool, tmp_path, {**SAME, "m.py": STAYING[name]}, "--python2")
    assert (out / "m.py").read_text() == STAYING[name]


def test_files_of_other_projects_stay(tool, tmp_path):
    files = {"old/main.py": OLD, "new/m.py": "k = {}.keys()\n", "old/sub/far.py": "k = {}.keys()\n"}
    out = converted(tool, tmp_path, files, "--python2")
    assert {path: (out / path).read_text() for path in ("new/m.py", "old/sub/far.py")} == {
        "new/m.py": "k = {}.keys()\n", "old/sub/far.py": "k = {}.keys()\n",
    }  # fmt: skip


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("name", PACKAGES)
def test_siblings_are_imported_from_their_package(tool, tmp_path, name):
    files, wanted = PACKAGES[name]
    base = {"main.py": "import net.a\nif 0:\n    print 'x'\n", "net/__init__.py": "", "net/words.py": "X = 'words'\n"}
    out = converted(tool, tmp_path, {**base, **files}, "--python2")
    assert printed(out / "main.py") == wanted
    tool("convert", out, tmp_path / "again", "--python2")
    for path in {**base, **files}:
        assert (tmp_path / "again" / path).read_text() == (out / path).read_text()


def test_a_script_in_a_package_is_run_as_before(tool, tmp_path):
    files = {
        "net/__init__.py": "", "net/words.py": "import letters\nX = letters.X\n", "net/letters.py": "X = 'x'\n",
        "net/train.py": "import words\nif __name__ == '__main__':\n    print words.X\n",
    }  # fmt: skip
    out = converted(tool, tmp_path, files, "--python2")
    assert printed(out / "net" / "train.py") == "x\n"


def test_without_the_option_each_file_is_named(tool, tmp_path):
    files = {
        "main.py": "import tensorflow as tf\nimport net.a\nprint 'x'\n", "net/__init__.py": "", "net/words.py": "X = 7\n",
        "net/a.py": "import os\nimport words\nk = {}.keys()\nhalf = words.X / os.getpid()\n", "net/b.py": "print 'b'\n",
        "net/c.py": "import b\nx = 1\n",
    }  # fmt: skip
    out = converted(tool, tmp_path, {**files, "main.py": files["main.py"] + "import net.c\n"})
    assert (out / "net" / "a.py").read_text() == files["net/a.py"]
    document = report_of(out / "tf2npu-report")
    (finding,) = [f for f in file_in(document, "net/a.py")["findings"] if f["rule"] == "NPU010"]
    assert (finding["level"], finding["line"]) == ("manual", 2)
    assert "(lines: 2, 3, 4): convert with --python2" in finding["message"]
    (finding,) = file_in(document, "net/b.py")["findings"]
    assert (finding["rule"], finding["level"]) == ("NPU010", "manual") and "convert with --python2" in finding["message"]
    assert not [f for f in document["files"] if f["path"] == "net/words.py" and f["findings"]]


@pytest.mark.parametrize(("other", "level"), [("", "none"), ("from train import mean\nmean(read(), 2)\n", "manual")])
def test_a_function_that_another_file_calls_takes_what_nobody_knows(tool, tmp_path, other, level):
    root = tmp_path / "src"
    root.mkdir()
    (root / "train.py").write_text(
        "import tensorflow as tf\nprint 'x'\ndef mean(a, n):\n    return a / n\nmean(2.5, len('ab'))\n"
    )
    (root / "other.py").write_text(other)
    done = tool("convert", root, tmp_path / "out", "--python2")
    findings = file_in(report_of(tmp_path / "out" / "tf2npu-report"), "train.py")["findings"]
    assert [f["line"] for f in findings if f["level"] == "manual"] == ([] if level == "none" else [4])
    assert done.code == (0 if level == "none" else 1)
