"""Names that nothing defines are told where Python itself ends with a NameError, and nowhere else."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tf2npu.config import load_config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request

HEAD = "import tensorflow as tf\n"
PROGRAM = f"{' = '.join(f'k{n}' for n in range(30))} = 0\nif __name__ == '__main__':\n    print(k0)\n"
"""The rest of a program: of a piece of one, most names are nowhere."""

ENDING = {  # by the name that is nowhere
    "num_units": "cells = []\nfor _ in range(1):\n    cells.append(num_units)\n",
    "np": "def f():\n    return np.ones(3)\nf()\n",
    "helper": "class A(object):\n    def helper(self):\n        pass\n    def run(self):\n        helper()\nA().run()\n",
    "width": "def f(height):\n    width = 1\n    return height\nf(width)\n",
    "Error": "raise Error('no')\n",
    "cmp": "cmp(1, 2)\n",
    "late": "def f():\n    late = 1\nf()\nprint('%s' % [late for _ in range(2)])\n",
    "missing": "try:\n    missing()\nexcept ValueError:\n    pass\n",
    "text": "x = f'{text}'\n",
    "scale": "g = lambda x, y=scale: x\n",
    "e": "def f():\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        pass\nf()\nprint(e)\n",
}
RUNNING = (
    "try:\n    unicode\nexcept NameError:\n    unicode = str\n",
    "try:\n    text = unicode\nexcept Exception:\n    text = str\n",
    "try:\n    missing()\nexcept:\n    pass\n",
    "print(__file__, __name__, __doc__)\n",
    "class A(object):\n    place = __qualname__\n    def f(self):\n        return __class__\nA().f()\n",
    "def f():\n    global step\n    step = 1\nf()\nprint(step)\n",
    "x = 1\ndel x\n",
    "if len('a') == 1:\n    import math as m\nelse:\n    m = None\nm.pi\n",
    "exec('found = 1')\nprint(found)\n",
    "globals()['found'] = 1\nprint(found)\n",
    "import builtins\nbuiltins.found = 1\nprint(found)\n",
    "if False:\n    nowhere()\n",
    "if 0:\n    print(nowhere)\n",
    "def f(x: 'Nowhere') -> None:\n    y: Nowhere = x\nf(1)\n",
    "from os.path import *\njoin('a', 'b')\n",
    "import sys\nif sys.version_info[0] < 3:\n    text = unicode\n",
    "x = [y for y in range(3) for z in range(y) if (w := z) >= 0]\nprint(w)\n",
    "with open(__file__) as (f): f.name\n",
    "for a, (b, *c) in [(1, (2, 3))]:\n    print(a, b, c)\n",
    "def a():\n    n = 1\n    def b():\n        nonlocal n\n        n += 1\n        return n\n    return b()\na()\n",
    "match {'a': 1, 'b': 2}:\n    case {'a': x, **rest}:\n        print(x, rest)\n",
    "class P:\n    __match_args__ = ('a',)\n    a = 1\nmatch P():\n    case P(a=z):\n        print(z)\n",
    "def f(*args, **kw):\n    return args, kw\nf()\n",
    "import os.path\nos.path.join('a')\n",
)


def told(code: str, path: str = "m.py") -> list[str]:
    """The names that are told, in the order of the text."""
    return [f.before for f in convert_source(HEAD + code + PROGRAM, path).findings if f.rule == "NPU995"]


def ends(code: str, folder: Path) -> str:
    """The name that Python does not find when it runs the code; "" where it finds all."""
    script = folder / "m.py"
    script.write_text(code)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0 or "NameError: name '" in ran.stderr, ran.stderr
    return "" if ran.returncode == 0 else ran.stderr.split("NameError: name '")[1].split("'")[0]


def found_by_ruff(code: str, folder: Path) -> set[str]:
    script = folder / "r.py"
    script.write_text(code)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--output-format", "json", str(script)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return {one["message"].split("`")[1] for one in found}


@pytest.mark.parametrize(("name", "code"), ENDING.items(), ids=ENDING)
def test_a_name_at_which_python_ends_is_told(name: str, code: str, tmp_path: Path) -> None:
    assert ends(code, tmp_path) == name
    assert told(code) == [name]
    assert found_by_ruff(code, tmp_path) == {name}


@pytest.mark.parametrize("code", RUNNING)
def test_a_name_that_python_finds_or_does_not_ask_for_is_not_told(code: str, tmp_path: Path) -> None:
    assert ends(code, tmp_path) == ""
    assert told(code) == []


def test_all_built_in_names_are_known() -> None:
    assert told("".join(f"{name}\n" for name in dir(builtins))) == []


def test_a_notebook_has_the_names_of_ipython() -> None:
    cells = ["get_ipython().magic('time')\ndisplay(1)\nprint(In, Out, _)", "print(nowhere, __file__)"]
    source: dict[str, Any] = {
        "cells": [_cell(HEAD + PROGRAM), *map(_cell, cells)],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 2,
    }
    assert told_of(json.dumps(source)) == ["nowhere", "__file__"]
    for line in ("%run other.py", "%pylab inline", "%%capture shown\n1"):
        assert told_of(json.dumps({**source, "cells": [*source["cells"], _cell(line)]})) == []
    harmless = _cell("%matplotlib inline\n%load_ext tensorboard")
    assert told_of(json.dumps({**source, "cells": [*source["cells"], harmless]})) == ["nowhere", "__file__"]


def _cell(source: str) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


def told_of(notebook: str) -> list[str]:
    return [f.before for f in convert_source(notebook, "m.ipynb").findings if f.rule == "NPU995" and f.level is Level.INFO]


def test_a_name_is_told_at_its_first_place_with_the_level_of_what_happens_there() -> None:
    code = (
        "def f(x):\n    try:\n        return x.a\n    except AttributeError:\n        raise Mistake(x)\nf(1)\n"
        "for _ in range(2):\n    print(nowhere)\nprint(nowhere)\n"
    )
    found = {f.before: f for f in convert_source(HEAD + code + PROGRAM, "m.py").findings if f.rule == "NPU995"}
    assert {name: f.level for name, f in found.items()} == {"Mistake": Level.INFO, "nowhere": Level.MANUAL}
    assert found["nowhere"].span.line == 9
    assert "TensorFlow 1.15" in found["nowhere"].message


def test_what_would_mend_it_is_shown() -> None:
    codes = {
        f.before: f.after for f in convert_source(f"{HEAD}np.ones(file('x'))\n{PROGRAM}", "m.py").findings if f.rule == "NPU995"
    }
    assert codes == {"np": "import numpy as np", "file": "open"}


def test_python_2_alone_knows_some_names() -> None:
    (found,) = (f for f in convert_source(f"{HEAD}print(cmp(1, 2))\n{PROGRAM}", "m.py").findings if f.rule == "NPU995")
    assert "Python 2" in found.message and "1.15 as well" not in found.message


@pytest.mark.parametrize(
    "code", ["with tf.Session(config=cfg) as sess:\n    sess.run(step)\n", "y = tf.nn.dropout(x, rate=0.1)\n"]
)
def test_a_piece_of_a_program_is_none_that_ends(code: str) -> None:
    assert [f.before for f in convert_source(HEAD + code, "m.py").findings if f.rule == "NPU995"] == []


def test_names_that_another_rule_tells_are_left_to_it() -> None:
    assert told("for i in xrange(3):\n    print(unicode(i))\n") == []


TREES = {
    "given by a star": {"train.py": "from layers import *\nnet()\n", "layers.py": "def net(): pass\n"},
    "given by stars of stars": {"train.py": "from a import *\nn\n", "a.py": "from b import *\n", "b.py": "n = 1\n"},
    "maybe by a star of others": {"train.py": "from a import *\nn\n", "a.py": "from somewhere import *\n"},
    "in a function that nobody calls": {"train.py": "import a\n", "a.py": "import tensorflow\ndef f():\n    nowhere()\n"},
}
UNDEFINED = {
    "behind a star": {"train.py": "from layers import *\nnet()\nother\n", "layers.py": "def net(): pass\n"},
    "in a file without TensorFlow": {"train.py": "import a\na.f()\n", "a.py": "def f():\n    return other\n"},
    "in a called function": {"train.py": "import a\na.f()\n", "a.py": "import tensorflow\ndef f():\n    other()\n"},
}


def asked_for(tree: dict[str, str], folder: Path) -> list[str]:
    for name, text in tree.items():
        (folder / name).write_text(HEAD + text + PROGRAM if name == "train.py" else text + PROGRAM)
    done = convert_project(Request(folder, load_config(folder), use_cache=False))
    return [f.before for r in done.results for f in r.findings if f.rule == "NPU995" and f.level is Level.MANUAL]


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_names_of_a_project_are_known(tree: dict[str, str], tmp_path: Path) -> None:
    assert asked_for(tree, tmp_path) == []


@pytest.mark.parametrize("tree", UNDEFINED.values(), ids=UNDEFINED)
def test_a_name_that_the_project_does_not_have_is_told(tree: dict[str, str], tmp_path: Path) -> None:
    assert asked_for(tree, tmp_path) == ["other"]


FORGOTTEN = {
    "a.py": "from __future__ import division\nimport tensorflow as tf\ndef f():\n    return np.power(2, 3) + np.sqrt(4)\n",
    "b.py": "import numpy as np\nprint(np.ones(1))\n",
    "train.py": "import a, b\nprint(a.f())\n",
}
NOT_FORGOTTEN = {
    "nobody imports it": {**FORGOTTEN, "b.py": "print(1)\n"},
    "the name means something else": {**FORGOTTEN, "c.py": "np = 1\n"},
    "another module has the name": {**FORGOTTEN, "c.py": "import jax.numpy as np\n"},
    "the name itself is used": {**FORGOTTEN, "a.py": "import tensorflow as tf\ndef f():\n    return np\n"},
}  # fmt: skip


def converted(tree: dict[str, str], folder: Path) -> tuple[str, list[Any]]:
    """The text of a.py after a conversion, and what is said of names."""
    source, out = folder / "source", folder / "out"
    source.mkdir()
    for name, text in tree.items():
        (source / name).write_text(HEAD + text + PROGRAM if name == "train.py" else text + PROGRAM.partition("if")[0])
    done = convert_project(Request(source, load_config(source), out=out, use_cache=False))
    return (out / "a.py").read_text(), [f for r in done.results for f in r.findings if f.rule == "NPU995"]


def test_an_import_that_other_files_have_is_added_and_mends_the_name(tmp_path: Path) -> None:
    text, (found,) = converted(FORGOTTEN, tmp_path)
    assert found.level is Level.FIXED and "import numpy as np" in found.message
    assert ends(FORGOTTEN["a.py"].replace("import tensorflow as tf\n", "") + "f()\n", tmp_path) == "np"
    mended = "\n".join(line for line in text.splitlines() if "tensorflow" not in line and "npu_bridge" not in line)
    assert ends(f"{mended}\nf()\n", tmp_path) == ""


@pytest.mark.parametrize("tree", NOT_FORGOTTEN.values(), ids=NOT_FORGOTTEN)
def test_an_import_is_not_guessed(tree: dict[str, str], tmp_path: Path) -> None:
    _, (first, *_) = converted(tree, tmp_path)
    assert first.level is Level.MANUAL
