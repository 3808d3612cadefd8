"""The Python interface: what docs/api.md says is what happens."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import tf2npu

PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def test_the_page_is_true():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted >= 8
    assert found.failed == 0


def test_every_name_is_there_and_on_the_page():
    assert all(getattr(tf2npu, name) is not None for name in tf2npu.__all__)
    page = PAGE.read_text()
    assert [name for name in tf2npu.__all__ if not name.startswith("_") and name not in page] == []
    with pytest.raises(AttributeError, match="frobnicate"):
        _ = tf2npu.frobnicate


def test_importing_it_imports_nothing_else():
    program = "import sys, tf2npu; print([m for m in sys.modules if m.startswith(('tf2npu.', 'libcst', 'tensorflow', 'numpy'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
