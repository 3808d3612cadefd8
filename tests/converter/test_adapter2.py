"""Scripts that use the adapter of TensorFlow 2 (npu_device) already, and what they import."""

from __future__ import annotations

import pytest

from tests.converter.test_project_facts import converted, project_of
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_file, convert_source
from tf2npu.findings import Finding, Level

KERAS = "import tensorflow as tf\nm = tf.keras.Sequential([tf.keras.layers.Dropout(0.5)])\nm.fit(x, y)\n"
SESSION = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ns = tf.Session()\ns.run(tf.placeholder(tf.float32))\n"
NET = "import tensorflow as tf\ndef net(x):\n    return tf.nn.dropout(tf.layers.dense(x, 2), 0.5)\n"


def said(files: dict[str, str], path: str) -> list[Finding]:
    return convert_file(path, files[path].encode(), Config(), project_of(files)).findings


@pytest.mark.parametrize(
    "statement",
    [
        "import npu_device",
        "import npu_device as npu",
        "import os, npu_device.configs",
        "from npu_device import gen_npu_ops",
        "from npu_device.npu_device import global_npu_ctx",
        "import npu_device\nnpu_device.compat.enable_v1()",
        "def start():\n    import npu_device\n    npu_device.open().as_default()",
        "try:\n    import npu_device\nexcept ImportError:\n    npu_device = None",
    ],
)
@pytest.mark.parametrize("rest", [KERAS, SESSION, NET, "import numpy as np\nx = np.float(3)\n"])
def test_a_file_that_imports_it_stays_with_one_finding(statement: str, rest: str) -> None:
    result = convert_source(f"{statement}\n{rest}")
    assert result.after == result.before
    (finding,) = result.findings
    assert (finding.rule, finding.level) == ("NPU903", Level.INFO)
    assert finding.before.lstrip().startswith(("import", "from")) and "npu_device" in finding.before


@pytest.mark.parametrize(
    "text",
    [
        f"# import npu_device\n{KERAS}",
        f'"""\nimport npu_device\n"""\n{KERAS}',
        f"from .npu_device import x\n{KERAS}",
        f"from core import is_npu_device\n{KERAS}",
    ],
)
def test_what_only_looks_like_it_is_converted(text: str) -> None:
    result = convert_source(text, "train.py")
    assert result.after != result.before


@pytest.mark.parametrize("statement", ["from npu_device.compat.v1.npu_init import npu_ops", "from npu_device.compat import v1"])
def test_the_names_of_version_1_keep_the_file_and_leave_what_it_imports(statement: str) -> None:
    files = {"train.py": f"{statement}\nimport net\n{SESSION}", "net.py": NET}
    after = converted(files)
    assert after["train.py"] == files["train.py"] and after["net.py"] != NET
    (finding,) = said(files, "train.py")
    assert (finding.rule, finding.level) == ("NPU903", Level.MANUAL) and "--target tf2-compat" in finding.message
    assert convert_source(files["train.py"].replace(statement, "from npu_bridge.npu_init import *")).findings[-1].rule != "NPU903"


@pytest.mark.parametrize("between", ["", "import net\n"])
def test_what_it_imports_stays_with_it_whatever_it_looks_like(between: str) -> None:
    """Either of the two is enough to tell NET as TensorFlow 1: its own names, and the script for TensorFlow 1 that uses it."""
    name = "between" if between else "net"
    files = {
        "train2.py": f"import npu_device\nimport {name}\nnpu_device.open().as_default()\n",
        "between.py": between,
        "net.py": NET,
        "train1.py": "import tensorflow as tf\nimport net\nwith tf.Session() as s:\n    s.run(net.net(tf.constant([[1.0]])))\n",
    }
    after = converted(files)
    assert [path for path in files if after[path] != files[path]] == ["train1.py"]
    assert said(files, "net.py") == []  # no rule for TensorFlow 2 has anything to say


def test_what_it_imports_is_not_mentioned_when_there_is_nothing_to_convert() -> None:
    files = {
        "train2.py": "import npu_device\nimport size\n",
        "size.py": "import tensorflow as tf\nn = tf.size(x)\n",
    }
    assert said(files, "size.py") == []


def test_a_file_with_python_errors_is_told_by_its_lines() -> None:
    files = {"train2.py": "import npu_device\nimport net\nprint 'x'\n", "net.py": NET}
    assert converted({"net.py": NET})["net.py"] != NET
    result = convert_file("net.py", NET.encode(), Config(), project_of(files))
    assert result.after == NET.encode()
