"""Hooks are asked in one order, whichever of their modules somebody imported first."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tf2npu.config import load_config
from tf2npu.findings import Level
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request
from tf2npu.rules.hooks import HookPoint

_ORDER = """
import {first}
from tf2npu.rules import hooks, load_rules
load_rules()
print([f"{{f.__module__}}.{{f.__name__}}" for f in hooks.after_rules])
"""
_TRAIN = (
    "import argparse\nimport tensorflow as tf\n{names} = 0\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--slow', action='store_true')\n"
    "options = parser.parse_args()\nif __name__ == '__main__':\n    if not options.slow:\n        print(k0)\n    else:\n"
    "        print(image)\n"
).format(names=" = ".join(f"k{n}" for n in range(30)))


def _order(first: str) -> str:
    return subprocess.run([sys.executable, "-c", _ORDER.format(first=first)], capture_output=True, text=True, check=True).stdout


def test_the_order_does_not_depend_on_who_imports_a_module_first() -> None:
    early = _order("tf2npu.rules.engine.untaken_branches")
    assert early == _order("tf2npu.rules.engine.defined_nowhere")
    assert early.index("defined_nowhere") < early.index("uncalled_functions") < early.index("untaken_branches")


def test_functions_of_plug_ins_come_last() -> None:
    point: HookPoint = HookPoint()
    for module in ("a_plugin", "tf2npu.rules.b", "tf2npu.rules.a"):
        function = eval("lambda: None", {"__name__": module})
        point(function)
    assert [f.__module__ for f in point] == ["tf2npu.rules.a", "tf2npu.rules.b", "a_plugin"]


@pytest.mark.parametrize("arguments", [[], ["--slow"]])
def test_a_name_that_is_nowhere_is_told_with_its_branch(arguments: list[str], tmp_path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_TRAIN)
    (tmp_path / "stub").mkdir()
    (tmp_path / "stub" / "tensorflow.py").write_text("")
    environment = {"PYTHONPATH": str(tmp_path / "stub")}
    ran = subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False, env=environment)
    assert ("NameError" in ran.stderr) == bool(arguments), ran.stderr
    (tmp_path / "stub" / "tensorflow.py").unlink()
    done = convert_project(Request(tmp_path, load_config(tmp_path), use_cache=False))
    (found,) = (f for r in done.results for f in r.findings if f.rule == "NPU995")
    assert found.level is Level.INFO and "Only if options.slow, which is not so by default" in found.message
