"""A project of 150 files, of which ten are notebooks and two are run, and the command that makes a report of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

N_FILES = 150
N_NOTEBOOKS = 10
TRAIN = """import numpy as np
import tensorflow as tf
from pkg0 import module0
x = tf.placeholder(tf.float32, [None, 3])
y = tf.reduce_sum(module0.twice(x))
with tf.Session() as sess:
    for n in range(1, 4):
        print(sess.run(y, {x: np.ones([n, 3])}))
"""
EVALUATE = """import numpy as np
import tensorflow as tf
def double(v):
    return 2 * v
x = tf.placeholder(tf.float32, [2])
y = tf.py_func(double, [x], tf.float32)
z = tf.sqrt(tf.abs(x) + 1.0)
def unused(v):
    return tf.py_func(double, [v], tf.float32)
with tf.Session() as sess:
    print(sess.run([y, z], {x: np.ones(2)}))
"""
MODULE = """import tensorflow as tf
def twice(x):
    return tf.add(x, x)
"""
_FILLING = "".join(f"STEP_{n} = {n}\n" for n in range(30))
KINDS = (
    MODULE,
    f"import tensorflow as tf\n{_FILLING}with tf.Session() as sess:\n    print(sess.run(tf.constant(1.0)))\n",
    f"import tensorflow as tf\ndef wrapped(f, x):\n    y = tf.py_func(f, [x], tf.float32)\n{_FILLING}    return y\n".replace(
        "STEP", "    STEP"
    ),
    "import tensorflow as tf\ndef estimator(a):\n    return tf.estimator.Estimator(**a)\n",
    "import tensorflow as tf\ndef rows(n):\n    d = tf.data.Dataset.range(n)\n    return d.batch(3)\n",
    "import tensorflow as tf\ndef total(a, b):\n    return tf.math.accumulate_n([a, b])\n",
    "import tensorflow as tf\ndef flags():\n    tf.flags.DEFINE_float('batch_size', 20, 'rows')\n",
    "def plain(x):\n    return x + 1\n",
)
"""One of each is a module of the project in turn: converted, with work of several rules, and without any TensorFlow."""
NOTEBOOK_CELLS = (
    "import tensorflow as tf\n",
    "sess = tf.Session()\ny = tf.py_func(lambda v: v, [1.0], tf.float32)\n",
    "print(sess.run(y))\n",
)
SCRIPTS = {"train.py": TRAIN, "evaluate.py": EVALUATE}


def write_project(source: Path) -> None:
    """Writes the files; the folder is new."""
    files = dict(SCRIPTS)
    for number in range(N_NOTEBOOKS):
        files[f"notebooks/part{number}.ipynb"] = _notebook()
    for number in range(N_FILES - len(files)):
        files[f"pkg{number % 12}/module{number}.py"] = KINDS[number % len(KINDS)]
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")


def _notebook() -> str:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell.splitlines(keepends=True)}
        for cell in NOTEBOOK_CELLS
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


@contextmanager
def own_folders(place: Path) -> Iterator[None]:
    """The command keeps its cache and its state below this folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        yield


def tf2npu(*words: object) -> int:
    """Runs the command in this process; returns its exit code."""
    from tf2npu import cli

    try:
        cli.main([str(word) for word in words])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def run_script(out: Path, script: str, *options: str, code: int = 0) -> None:
    """Runs a converted script on the simulated device, into the report of its conversion.  code: with which it ends."""
    from tests import fork_server
    from tests.shim.conftest import plain_environment

    path = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    words = ["run", "--report", out / "tf2npu-report", *options, f"{out.name}/{script}"]
    done = fork_server.tf2npu(words, {**plain_environment(), **path}, out.parent)
    assert done.returncode == code, done.stderr
