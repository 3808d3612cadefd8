"""Comparisons of versions: what is written in their place says of every version what its numbers say."""

from __future__ import annotations

import operator

import pytest

from tf2npu.engine.convert_file import convert_source

HEAD = "import sys, platform\nimport numpy as np\nimport tensorflow as tf\n"
RELEASES = ("1.0.0", "1.3.1", "1.4.0", "1.5.0", "1.10.0", "1.14.0", "1.15.0", "1.15.0-rc1", "1.15.5", "2.0.0", "2.15.1")
SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Module:
    """A module with a version."""

    def __init__(self, version: str) -> None:
        self.__version__ = version


def converted(test: str) -> tuple[str, list[str]]:
    """The test of an assertion after the conversion, and the levels of what is said of it."""
    result = convert_source(f"{HEAD}assert {test}\n", "m.py")
    line = next(line for line in result.after.decode().splitlines() if line.startswith("assert "))
    return line.removeprefix("assert "), [f.level.value for f in result.findings if f.rule == "NPU985"]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(("text", "numbers"), [("'1.4'", (1, 4)), ("'1.9'", (1, 9)), ("'1'", (1,)), ("'1.12'", (1, 12))])
def test_an_edit_compares_the_numbers(text: str, numbers: tuple[int, ...], sign: str) -> None:
    for test, is_turned in ((f"tf.__version__ {sign} {text}", False), (f"{text} {sign} tf.__version__", True)):
        code, levels = converted(test)
        if not levels:
            assert code == test
            continue
        for release in RELEASES:
            known = tuple(int(n) for n in release.split("-")[0].split("."))[: len(numbers)]
            wanted = SIGNS[sign](numbers, known) if is_turned else SIGNS[sign](known, numbers)
            assert eval(code, {"tf": Module(release)}) is wanted


@pytest.mark.parametrize(
    ("test", "levels"),
    [
        ("tf.__version__ >= '1.4'", ["fixed"]),
        ("tf.__version__ >= '1.4.0'", ["fixed"]),
        ("tf.__version__ >= '1.4.1'", ["info"]),
        ("float(tf.__version__[:3]) >= 1.4", ["fixed"]),
        ("float('.'.join(tf.__version__.split('.')[:2])) >= 1.4", ["fixed"]),
        ("tf.VERSION > '1.2'", ["fixed"]),
        ("np.__version__ >= '1.7'", ["fixed"]),
        ("platform.python_version() >= '3.5'", []),  # a call, whose text is not looked at
        ("sys.version >= '3.6'", ["info"]),
        ("tf.__version__ >= '1.0'", []),
        ("tf.__version__ >= '1.13'", []),
        ("tf.__version__ >= '1.1'", []),
        ("tf.__version__.startswith('1.')", []),
        ("tf.__version__ in ('1.4', '1.5')", []),
        ("int(tf.__version__.split('.')[1]) >= 4", []),
    ],
)
def test_what_is_said(test: str, levels: list[str]) -> None:
    assert converted(test)[1] == levels


@pytest.mark.parametrize(
    ("code", "level"),
    [
        ("if tf.__version__ < '1.4':\n    raise ImportError\n", "fixed"),
        ("if tf.__version__ < '1.4':\n    print('old')\n    sys.exit(1)\n", "fixed"),
        ("if tf.__version__ < '1.4':\n    rnn = 1\nelse:\n    rnn = 2\n", "info"),
        ("x = 1 if tf.__version__ < '1.4' else 2\n", "info"),
    ],
)
def test_only_what_decides_over_the_end_is_changed(code: str, level: str) -> None:
    assert [f.level.value for f in convert_source(HEAD + code, "m.py").findings if f.rule == "NPU985"] == [level]
