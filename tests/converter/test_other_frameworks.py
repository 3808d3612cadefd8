"""Findings in files that are written for a framework which is not converted, or left out by --framework."""

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
        ("import jax", "JAX"),
        ("from jax import nn", "JAX"),
        ("import numpy, jax.nn as nn", "JAX"),
        ("from paddle.fluid import layers", "PaddlePaddle"),
        ("try:\n    import jax\nexcept ImportError:\n    jax = None", "JAX"),
    ],
)
def test_a_file_of_another_framework_is_named_once(statement: str, name: str) -> None:
    text = f'"""import jax is below."""\n{statement}\n\n\nclass Net:\n    pass\n'
    result = convert_source(text, "train.py")
    (finding,) = result.findings
    assert (finding.rule, finding.level, result.status) == ("NPU905", Level.INFO, Status.COPIED)
    assert finding.span.line == 2 + statement.startswith("try") and name in finding.message
    assert result.after == text.encode() and finding.doc == "docs/generated/rules.md#npu905"


@pytest.mark.parametrize(
    "text",
    [
        "import jax\nimport tensorflow as tf\n",
        "import jax\ndef f():\n    from tensorflow import nn\n",
        "import jaxtyping\n",
        "from .jax import x\n",
        "# import jax\n",
        "s = '''\nimport jax\n'''\n",
        "import jax\nimport keras\n",
    ],
)
def test_a_file_that_uses_tensorflow_or_only_mentions_another_is_not(text: str) -> None:
    assert said(text) == []


def test_a_file_that_uses_tensorflow_through_the_project_is_not() -> None:
    assert said("import jax\nimport net\n", others={"net.py": "import tensorflow as tf\n"}) == []


@pytest.mark.parametrize("body", ["", "tf = 1\n", "import numpy as np\nx = np.float(3)\n"])
def test_a_file_that_is_parsed_says_it_too(body: str) -> None:
    others = {"main.py": "import tensorflow as tf\nimport train\n"}
    (finding,) = said(f"import jax\n{body}", others=others)
    assert finding.span.line == 1


def test_a_notebook_says_it_in_its_cell() -> None:
    cells = [{"cell_type": "code", "source": [c], "outputs": [], "metadata": {}} for c in ("x = 1\n", "%time\nimport jax\n")]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2})
    (finding,) = said(text, "a.ipynb")
    assert (finding.cell, finding.span.line) == (1, 2)


def test_it_can_be_switched_off() -> None:
    assert said("import jax\n", ignore=("NPU905",)) == []


def test_a_script_of_pytorch_stays_where_only_tensorflow_is_asked_for() -> None:
    text = "import torch\nx = y.cuda()\n"
    (finding,) = said(text, framework="tensorflow")
    assert "--framework tensorflow" in finding.message and "PyTorch" in finding.message
    assert convert_source(text, config=Config(framework="tensorflow")).after == text.encode()
    assert said(text) == said(text, framework="torch") == []


def test_a_script_of_both_is_converted_for_the_one_that_is_asked_for() -> None:
    text = "import tensorflow as tf\nimport torch\ns = tf.Session()\nx = y.cuda()\n"
    both, tensorflow, torch = (
        convert_source(text, config=Config(framework=framework)).after.decode() for framework in ("auto", "tensorflow", "torch")
    )
    assert [("npu_bridge" in one, ".npu()" in one) for one in (both, tensorflow, torch)] == [
        (True, True), (True, False), (False, True),
    ]  # fmt: skip


WITH_PACKAGE = "import tensorlayer as tf\nfrom net import y\nwith tf.Session() as s:\n    s.run(y)\n"
ADAPTER = "import npu_bridge.npu_init"


@pytest.mark.parametrize("package", ["tensorlayer", "tflearn", "stable_baselines", "deepctr"])
@pytest.mark.parametrize("body", ["import {} as tf\ny = tf.Session()\n", "import {}\nmake({}.Model())\n"])
def test_a_package_that_opens_sessions_gets_the_adapter_above_it(package: str, body: str) -> None:
    text = body.replace("{}", package)
    result = convert_file("train.py", text.encode(), Config(), project_of({"train.py": text}))
    lines = result.after.decode().splitlines()
    assert lines[0].startswith(ADAPTER) and lines[1:] == text.splitlines()
    assert [(f.rule, f.level) for f in result.findings] == [("NPU905", Level.FIXED)]
    again = convert_file("train.py", result.after, Config(), project_of({"train.py": result.after.decode()}))
    assert again.after == result.after and again.findings == []


def test_what_a_script_imports_gets_the_adapter_too() -> None:
    """A script that loads such a file may not import the package itself."""
    (finding,) = said("import tflearn\n\n\ndef net():\n    return 1\n", "net.py", {"train.py": "import net\nnet.net()\n"})
    assert finding.level is Level.FIXED


@pytest.mark.parametrize("settings", [{"framework": "pytorch"}, {"ignore": ("NPU905",)}])
def test_the_settings_keep_the_adapter_away(settings: dict[str, object]) -> None:
    data = WITH_PACKAGE.encode()
    assert convert_file("train.py", data, Config(**settings), project_of({"train.py": WITH_PACKAGE})).after == data


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("from tensorpack import TrainConfig\n", "Tensorpack"),
        ("import sugartensor as tf\ntf.sg_train()\n", "fails on TensorFlow 1.15"),
    ],
)
def test_a_package_that_needs_more_than_sessions_stays_a_question(text: str, word: str) -> None:
    (finding,) = said(text)
    assert finding.level is Level.MANUAL and word in finding.message
