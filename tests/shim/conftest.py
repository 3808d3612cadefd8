"""The tests of one process use npu_bridge and hand TensorFlow back as it was; those of fresh processes run a script."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest

from tests import fork_server


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


def plain_environment() -> dict[str, str]:
    """Lacks what a host exports, and variables that choose other BLAS kernels, which change the last bits."""
    return {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}


@pytest.fixture
def fresh() -> Callable[..., subprocess.CompletedProcess]:
    """Runs source text in a process of its own, in which TensorFlow is imported already, in a plain environment."""

    def run(source: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        return checked(fork_server.python(["-c", textwrap.dedent(source), *arguments], {**plain_environment(), **variables}))

    return run


@pytest.fixture
def fresh_python() -> Callable[..., subprocess.CompletedProcess]:
    """As `fresh`, in a Python that has imported nothing: for tests of the first import."""

    def run(source: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-c", textwrap.dedent(source), *arguments]
        environment = {**plain_environment(), **variables}
        return checked(subprocess.run(command, env=environment, capture_output=True, text=True, check=False))

    return run


def checked(done: subprocess.CompletedProcess) -> subprocess.CompletedProcess:
    assert done.returncode == 0, done.stderr[-4000:]
    return done
