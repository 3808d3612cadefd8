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
def plain_session(graph) -> Iterator[Callable]:
    """Runs fetches in a session that stays on TensorFlow, after initialising variables once."""
    from npu_bridge import _process
    from tensorflow.python.client import session

    original = _process._inits[session.Session]
    with session.Session.__new__(session.Session) as sess:
        original(sess)
        yield sess


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
