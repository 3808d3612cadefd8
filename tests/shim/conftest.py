"""The tests of one process use npu_bridge and hand TensorFlow back as it was; those of fresh processes run a script."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def npu_process() -> Iterator[None]:
    from npu_bridge import _process

    _process.enter()
    yield
    _process.leave()


@pytest.fixture
def graph():
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def plain_session(graph) -> Iterator:
    """A session that stays on TensorFlow."""
    import tensorflow as tf

    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    entry.parameter_map["use_off_line"].b = False
    with tf.Session(config=config) as session:
        yield session


@pytest.fixture
def fresh() -> Callable[..., subprocess.CompletedProcess]:
    """Runs source text in a Python of its own with an environment that lacks what a host exports."""

    def run(source: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
        command = [sys.executable, "-c", textwrap.dedent(source), *arguments]
        done = subprocess.run(command, env={**environment, **variables}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        return done

    return run
