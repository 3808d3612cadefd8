"""Results of numpy for values that Python 3 gives where Python 2 gave a list."""

from __future__ import annotations

import numpy as np
import pytest

from tf2npu.engine.convert_file import convert_source


def told(code: str) -> list[int]:
    """Lines of the code that are told."""
    found = convert_source(f"import tensorflow as tf\n{code}", "m.py").findings
    return [f.span.line - 1 for f in found if f.rule == "NPU962"]


def test_a_map_becomes_an_array_without_its_elements() -> None:
    assert np.array(map(str, [1, 2])).shape == ()
    assert told("import numpy as np\nx = np.array(map(float, row))") == [2]


def test_a_range_cannot_be_shuffled() -> None:
    with pytest.raises(TypeError):
        np.random.shuffle(range(9))
    assert told("import numpy\nnumpy.random.shuffle(range(9))") == [2]
