"""Libraries for GPUs in files that TensorFlow scripts reach, and that say nothing of TensorFlow themselves."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts

TRAIN = b"import tensorflow as tf\nimport memory\nmemory.show()\n"


IMPORTS = (
    "import pynvml",
    "import os, pycuda.driver",
    "from cupy import array",
    "from nvidia.dali import fn",
    "from numba import cuda",
)


@pytest.mark.parametrize("line", IMPORTS)
def test_a_file_that_a_script_imports_is_read_for_them(line: str) -> None:
    sources = {"train.py": TRAIN, "memory.py": f"{line}\n\ndef show():\n    pass\n".encode()}
    project = ProjectFacts.merge([gather_facts(path, data) for path, data in sources.items()])
    (finding,) = convert_file("memory.py", sources["memory.py"], Config(), project).findings
    assert finding.rule == "NPU945" and finding.span.line == 1


def test_a_file_that_nobody_imports_is_left_alone() -> None:
    sources = {"train.py": b"import tensorflow as tf\n", "memory.py": b"import pynvml\n"}
    project = ProjectFacts.merge([gather_facts(path, data) for path, data in sources.items()])
    assert convert_file("memory.py", sources["memory.py"], Config(), project).findings == []
