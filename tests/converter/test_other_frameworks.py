"""Findings in files that are written for another framework than TensorFlow."""

from __future__ import annotations

import json

import pytest

from tests.converter.test_project_facts import project_of
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_file, convert_source
from tf2npu.findings import Finding, Level, Status


def said(text: str, path: str = "train.py", others: dict[str, str] | None = None, **settings: object) -> list[Finding]:
    files = {**(others or {}), path: text}
    return [f for f in convert_file(path, text.encode(), Config(**settings), project_of(files)).findings if f.rule == "NPU905"]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import torch", "PyTorch"),
        ("from torch import nn", "PyTorch"),
        ("import numpy, torch.nn as nn", "PyTorch"),
        ("import mindspore as ms", "MindSpore"),
        ("from paddle.fluid import layers", "PaddlePaddle"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", "PyTorch"),
    ],
)
def test_a_file_of_another_framework_is_named_once(statement: str, name: str) -> None:
    text = f'"""import torch is below."""\n{statement}\n\n\nclass Net:\n    pass\n'
    result = convert_source(text, "train.py")
    (finding,) = result.findings
    assert (finding.rule, finding.level, result.status) == ("NPU905", Level.INFO, Status.COPIED)
    assert finding.span.line == 2 + statement.startswith("try") and name in finding.message
    assert result.after == text.encode() and finding.doc == "docs/generated/rules.md#npu905"


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nimport tensorflow as tf\n",
        "import torch\ndef f():\n    from tensorflow import nn\n",
        "import torchbearer\n",
        "from .torch import x\n",
        "# import torch\n",
        "s = '''\nimport torch\n'''\n",
        "import torch\nimport keras\n",
    ],
)
def test_a_file_that_uses_tensorflow_or_only_mentions_another_is_not(text: str) -> None:
    assert said(text) == []


def test_a_file_that_uses_tensorflow_through_the_project_is_not() -> None:
    assert said("import torch\nimport net\n", others={"net.py": "import tensorflow as tf\n"}) == []


@pytest.mark.parametrize("body", ["", "tf = 1\n", "import numpy as np\nx = np.float(3)\n"])
def test_a_file_that_is_parsed_says_it_too(body: str) -> None:
    others = {"main.py": "import tensorflow as tf\nimport train\n"}
    (finding,) = said(f"import torch\n{body}", others=others)
    assert finding.span.line == 1


def test_a_notebook_says_it_in_its_cell() -> None:
    cells = [{"cell_type": "code", "source": [c], "outputs": [], "metadata": {}} for c in ("x = 1\n", "%time\nimport torch\n")]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2})
    (finding,) = said(text, "a.ipynb")
    assert (finding.cell, finding.span.line) == (1, 2)


def test_it_can_be_switched_off() -> None:
    assert said("import torch\n", ignore=("NPU905",)) == []
