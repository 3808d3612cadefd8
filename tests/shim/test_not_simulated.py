"""Names that the converter says are not in a simulated run cannot be found in one."""

from __future__ import annotations

import operator
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tf2npu.api_support.table import not_simulated
from tf2npu.engine.convert_file import convert_source

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tf2npu" / "api_support" / "data" / "not_simulated.csv"


@pytest.mark.whole
def test_the_list_is_what_a_process_with_npu_bridge_lacks():
    code = "import sys; from tools.build_not_simulated import text; sys.stdout.write(text())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == TABLE.read_text(encoding="utf-8"), "run `python tools/build_not_simulated.py`"


def test_signals_of_contrib_are_those_of_tensorflow():
    import tensorflow as tf
    from tensorflow.contrib import signal

    assert signal.stft is tf.signal.stft
    assert tf.contrib.signal.hann_window is tf.signal.hann_window


@pytest.mark.whole
def test_nothing_is_said_of_a_module_of_tensorflow_that_is_there():
    """Whatever can be imported from TensorFlow's own modules under npu_bridge is not told to be missing."""
    code = "from tools.build_not_simulated import private_names_there; print(*private_names_there(), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    names = [name.rpartition(".") for name in done.stdout.split()]
    assert len(names) > 10000
    script = "import tensorflow.contrib\n" + "".join(f"from {module} import {name}\n" for module, _, name in names)
    assert [f for f in convert_source(script, "m.py").findings if f.rule == "NPU968"] == []


def test_what_is_to_be_used_instead_is_there():
    import tensorflow as tf

    advice = " ".join(not_simulated().values())
    names = set(re.findall(r"\btf\.(\w+(?:\.\w+)*)", advice))
    assert len(names) > 25
    for name in names:
        operator.attrgetter(name)(tf)
