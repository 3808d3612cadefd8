"""Comparisons with None: Python 3 refuses them, and once converted they have the answers of Python 2, where None is least.

No Python 2 runs here. Its answers are those of its language reference: None is less than any number, and equal to itself alone.
"""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import pytest

from tf2npu.config import load_config
from tf2npu.engine.convert_file import convert_source
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request

HEAD = "import tensorflow as tf\n"
ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
FUNCTION = (
    "def f(n=None):\n    y = 3 {0} n\n    z = n {0} 3 or 'no'\n    w = not n {0} 3\n    if n is None:\n        n = 5\n"
    "    return y, z, w, n\n"
)


def converted(code: str) -> str:
    return convert_source(HEAD + code, "m.py").after.decode().removeprefix(HEAD)


def run(code: str, call: str) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return eval(call, names)


def in_python2(order: str, left: float, right: float | None) -> bool:
    least = float("-inf")
    return bool(ORDERS[order](least if left is None else left, least if right is None else right))


@pytest.mark.parametrize("order", ORDERS)
def test_a_parameter_has_the_answers_of_python_2(order: str) -> None:
    code = FUNCTION.format(order)
    with pytest.raises(TypeError):
        run(code, "f()")
    for given in (None, 2, 3, 4):
        y, z, w = in_python2(order, 3, given), in_python2(order, given, 3), not in_python2(order, given, 3)
        assert run(converted(code), f"f({given})") == (y, z or "no", w, 5 if given is None else given)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    best = None\n    for x in [2, 1, 3]:\n        if x {} best:\n            best = x\n    return best\n",
        "class A(object):\n    def __init__(self):\n        self.best = None\n    def see(self, x):\n        if self.best {} x:\n"
        "            self.best = x\n        return self.best\ndef f():\n    a = A()\n    return [a.see(x) for x in [2, 1, 3]]\n",
    ],
)
def test_a_best_value_so_far_begins_as_in_python_2(order: str, code: str) -> None:
    with pytest.raises(TypeError):
        run(code.format(order), "f()")
    found, best, all_found = None, None, []
    for x in (2, 1, 3):
        left, right = (best, x) if "self" in code else (x, best)
        if in_python2(order, left, right):
            best = x
        all_found.append(best)
    found = all_found if "self" in code else best
    assert run(converted(code.format(order)), "f()") == found


def test_a_second_conversion_changes_nothing() -> None:
    for order in ORDERS:
        once = converted(FUNCTION.format(order))
        assert converted(once) == once


KEPT = {
    "given a value before": "def f(n=None):\n    n = n or 3\n    if n < 4:\n        pass\n    return n is None\n",
    "asked before": "def f(n=None):\n    if not n:\n        return 0\n    return n < 4, n is None\n",
    "asked beside": "def f(n=None):\n    y = n is not None and n < 4\n    return y, n is None\n",
    "asked around": "def f(n=None):\n    if n:\n        return n < 4\n    return n is None\n",
    "never told to be None": "def f(n=None):\n    return n < 4\n",
    "another default": "def f(n=1):\n    y = n < 4\n    return y, n is None\n",
    "equal": "def f(n=None):\n    y = n == 4\n    return y, n is None\n",
    "set by others": "best = None\nbest = load()\nfor x in y:\n    if x > best:\n        best = x\n",
    "compared elsewhere, too": "best = None\nif a:\n    best = 2\nelse:\n    y = best < 3\n",
    "a name of the function around": "def f(n=None):\n    def g():\n        return n < 4\n    return g, n is None\n",
    "tried": "def f(n=None):\n    try:\n        y = n < 4\n    except TypeError:\n        y = 0\n    return y, n is None\n",
    "several at once": "def f(n=None):\n    y = 0 < n < 4\n    return y, n is None\n",
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT)
def test_what_never_meets_none_is_kept(code: str) -> None:
    assert converted(code) == code


PYTHON2 = {
    "a default": ("def f(n=None):\n    return n > 3\n", "n is not None and n > 3"),
    "an option": ("import tensorflow\nx = args.gpu >= 0\n", "(args.gpu is not None and args.gpu >= 0)"),
    "an option with a value": ("import tensorflow\nx = args.size >= 0\n", "x = args.size >= 0\n"),
}


@pytest.mark.parametrize(("code", "wanted"), PYTHON2.values(), ids=PYTHON2)
def test_in_a_project_of_python_2_defaults_are_enough(code: str, wanted: str, tmp_path: Path) -> None:
    """The file itself is none that only Python 2 reads."""
    (tmp_path / "train.py").write_text(
        f"{HEAD}import argparse\nimport buffers\nparser = argparse.ArgumentParser()\nparser.add_argument('--gpu', type=int)\n"
        "parser.add_argument('--size', type=int, default=3)\nprint 'go'\n"
    )
    (tmp_path / "buffers.py").write_text(code)
    done = convert_project(Request(tmp_path, load_config(tmp_path), use_cache=False, python2=True))
    (result,) = (r for r in done.results if r.path == "buffers.py")
    assert wanted in (result.after.decode() or code)  # nothing is kept of what stays as it is
