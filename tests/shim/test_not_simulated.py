"""What the converter says is not in a simulated run is what cannot be found in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tf2npu" / "api_support" / "data" / "not_simulated.csv"


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
