"""Names that the converter says run as they are, because npu_bridge has them back, are in a process with npu_bridge."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.frameworks.tensorflow1.brought_back import BROUGHT_BACK
from tf2npu.rules import load_rules
from tf2npu.rules.base import registered

RULES = ("NPU960", "NPU961", "NPU962", "NPU964", "NPU965")
NEVER_GONE = {"re.split"}
"""Reported for what it does at empty matches, which is another thing since Python 3.7; the name was never gone."""
LOOK_UP = """
import importlib, json, logging, sys
import npu_bridge.npu_init
logging.disable(logging.CRITICAL)
def is_there(name):
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
            for part in parts[n:]:
                found = getattr(found, part)
            return True
        except (ImportError, AttributeError):
            continue
    return False
print(json.dumps([name for name in json.loads(sys.argv[1]) if is_there(name)]))
"""


def reported() -> set[str]:
    load_rules()
    found = {name for rule in RULES for part in registered()[rule] for name in part.matches}
    return {name for name in (found - NEVER_GONE) | BROUGHT_BACK if find_spec(name.partition(".")[0]) is not None}


@pytest.fixture(scope="module")
def there() -> set[str]:
    """The reported names that a fresh process with npu_bridge has."""
    command = [sys.executable, "-c", LOOK_UP, json.dumps(sorted(reported()))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_names_that_are_said_to_run_do_and_others_do_not(there) -> None:
    assert there == BROUGHT_BACK & reported()
    assert len(there) > 60


@pytest.mark.parametrize("name", sorted(BROUGHT_BACK))
def test_each_of_them_is_no_work(name: str) -> None:
    module, _, last = name.rpartition(".")
    statement = f"from {module} import {last}" if module else f"import {last}"
    found = [f for f in convert_source(f"import tensorflow as tf\n{statement}\n", "m.py").findings if f.rule in RULES]
    assert [f.level.value for f in found] == ["info"] and found[0].message.startswith(f"{name} is gone since ")
