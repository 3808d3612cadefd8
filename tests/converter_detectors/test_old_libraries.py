"""Names that are gone from other libraries are reported where no test of versions keeps them from being reached."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

HEAD = "import sys\nimport numpy as np\nimport tensorflow as tf\n"


def found(code: str) -> list[str]:
    return [f.rule for f in convert_source(HEAD + code, "m.py").findings if f.rule == "NPU960"]


@pytest.mark.parametrize("test", ["sys.version_info[0] < 3", "sys.hexversion < 0x3000000", "py2", "np.__version__ < '1.20'"])
def test_nothing_is_said_under_a_test_of_versions(test: str) -> None:
    assert found(f"if {test}:\n    x = np.int(3)\n") == []


def test_it_is_reported_under_another_test() -> None:
    assert found("if ready:\n    x = np.int(3)\n") == ["NPU960"]
