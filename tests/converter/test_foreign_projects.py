"""What reading the conversion of public projects brought to light, in small."""

from __future__ import annotations

import json

import pytest

from tests.converter.test_project_facts import converted, project_of
from tf2npu.config import Config
from tf2npu.convert import convert_file
from tf2npu.findings import Finding


def findings(files: dict[str, str], path: str, rule: str, **settings: object) -> list[Finding]:
    result = convert_file(path, files[path].encode(), Config(**settings), project_of(files))
    return [f for f in result.findings if f.rule == rule]


@pytest.mark.parametrize(
    "first", ["import matplotlib\nmatplotlib.use('Agg')\n", "import os\nos.environ['A'] = '1'\n", "import npu_bridge.x\nf = 1\n"]
)
@pytest.mark.parametrize("kept", ["", "from npu_bridge.npu_init import npu_ops\n", "from npu_bridge.npu_init import *\n"])
def test_what_starts_the_npu_stands_behind_its_import(first: str, kept: str) -> None:
    source = f"{first}{kept}import tensorflow as tf\n# Path of the data.\npath = 'd'\ntf.keras.Sequential().fit(x, y)\n"
    after = converted({"a.py": source})["a.py"]
    assert after.index("npu_bridge.npu_init import") < after.index("npu_keras_sess = ") < after.index("# Path of")
    assert after.endswith("# Path of the data.\npath = 'd'\ntf.keras.Sequential().fit(x, y)\n")


def test_what_starts_the_npu_in_a_notebook_stands_behind_its_import() -> None:
    cells = ["import matplotlib\n%matplotlib inline\nimport tensorflow as tf\n", "!ls\n", "tf.keras.Sequential().fit(x, y)\n"]
    notebook = {"cells": [{"cell_type": "code", "source": [c], "outputs": [], "metadata": {}} for c in cells],
                "metadata": {}, "nbformat": 4, "nbformat_minor": 2}  # fmt: skip
    after = convert_file("a.ipynb", json.dumps(notebook).encode(), Config(), project_of({})).after.decode()
    assert after.index("npu_bridge.npu_init import") < after.index("npu_keras_sess = ") < after.index(".fit(x, y)")


def test_only_scripts_that_use_horovod_start_its_counterpart() -> None:
    guard = "if __name__ == '__main__':\n    main()\n"
    files = {
        "model.py": "import tensorflow as tf\nimport horovod.tensorflow as hvd\ndef scale(lr):\n    return lr * hvd.size()\n",
        "train.py": f"import model\ndef main():\n    pass\n{guard}",
        "read_logs.py": f"import tensorflow as tf\ndef main():\n    pass\n{guard}",
    }
    after = converted(files, distributed="horovod")
    assert "init_resource()" in after["train.py"]
    assert "init_resource" not in after["read_logs.py"]
