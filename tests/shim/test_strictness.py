"""Calls that the shim takes and a host refuses: it says so once with the user's line, and refuses under --strict."""

from __future__ import annotations

import builtins
import importlib
import os
import re
import sys

import pytest
import tensorflow as tf
from npu_bridge import _host_differences, _log

ROWS = list(_host_differences.rows().values())


def names_for_examples() -> dict[str, object]:
    names: dict[str, object] = {}
    exec("from npu_bridge.npu_init import *", names)
    exec("from npu_bridge.estimator import npu_ops; from npu_bridge.estimator.npu import npu_common, npu_optimizer", names)
    exec("from hccl import _groups; from npu_bridge import _environment", names)
    return {**names, "importlib": importlib, "sys": sys, "os": os}


@pytest.fixture
def told(monkeypatch, graph, capsys):
    from hccl import _groups
    from npu_bridge import _environment, _session_hooks
    from npu_bridge.estimator.npu import util

    monkeypatch.setattr(util, "_values", None)
    monkeypatch.setattr(_session_hooks, "_is_shut_down", False)
    monkeypatch.setattr(_environment, "was_set", set())
    monkeypatch.setenv("JOB_ID", "1")
    monkeypatch.setenv("DEVICE_ID", "0")
    _log._said.clear()
    yield lambda: capsys.readouterr().err
    _groups.set_up()
    sys.modules.pop("npu_bridge._api.experimental", None)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_it_passes_with_one_warning(row, told):
    for _ in range(2):
        exec(row["example"], names_for_examples())
    (line,) = [line for line in told().splitlines() if "on a host" in line]
    if row["id"] == "option_value":
        assert "'fp99': use one of" in line and row["message"] in line
    elif row["id"] == "endless_training":
        assert f"on a host {row['message']} (<string>:1)" in line
    else:
        assert row["message"] in line and f"raises {row['error']}" in line and "works here (<string>:1)" in line


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_strict_mode_raises_what_a_host_raises(row, told, monkeypatch):
    monkeypatch.setenv("TF2NPU_STRICT", "1")
    kind = getattr(builtins, row["error"], None) or getattr(tf.errors, row["error"])
    with pytest.raises(kind):
        exec(row["example"], names_for_examples())


def test_a_warning_names_the_line_of_the_script(fresh):
    source = """
    from npu_bridge.npu_init import *
    print(get_rank_size(), tf.Session().run(tf.constant(2)), get_rank_size())
    """
    done = fresh(source, **dict.fromkeys(("JOB_ID", "RANK_SIZE"), "1"))
    assert done.stdout == "1 2 1\n"
    assert re.search(r"get_rank_size before .* works here \(<string>:3\); on a host it raises ValueError", done.stderr)


OPEN = """
import tensorflow as tf
from npu_bridge.npu_init import *
kept = tf.Session()
kept.run(tf.constant(1))
with tf.Session() as closed:
    closed.run(tf.constant(1))
never_used = tf.Session()
"""


def test_sessions_that_nobody_closed_are_listed(fresh):
    assert "1 session still open at the end, made at <string>:4" in fresh(OPEN).stderr
    assert "still open" not in fresh(OPEN + "kept.close()\n").stderr
