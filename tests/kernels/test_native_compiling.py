"""Loops are compiled beside the first steps, never twice, and a run without numba or without time goes on as it is."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from npu_runtime.kernels.native import compiled
from npu_runtime.kernels.native.compiled import Loop

pytest.importorskip("numba")

STEP = """
import numpy as np
from npu_runtime.kernels.native import compiled
compiled.DELAY = 0
from npu_runtime.kernels.native import optimizer_loops
from npu_runtime.kernels.training import optimizer
from npu_runtime.kernels.training.apply_update import DENSE
var, delta = np.ones(3, np.float32), np.ones(3, np.float32)
DENSE["ApplyGradientDescent"].formula(var, np.float32(0.5), delta)
print(var, optimizer_loops.gradient_descent.code is not None)
"""


def run(code: str, native: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TF2NPU_NATIVE": native}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_a_loop_is_compiled_before_its_first_use_where_that_is_asked_for():
    done = run(STEP, "at_once")
    assert (done.stdout, done.returncode) == ("[0.5 0.5 0.5] True\n", 0), done.stderr


def test_nothing_is_compiled_where_it_is_switched_off():
    done = run(STEP + "import sys; print('numba' in sys.modules)", "off")
    assert (done.stdout, done.returncode) == ("[0.5 0.5 0.5] False\nFalse\n", 0), done.stderr


def test_a_run_without_numba_goes_on():
    absent = (
        "import importlib.util\nfound = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'numba' else found(name, *a)\n"
    )
    done = run(absent + STEP, "at_once")
    assert (done.stdout, done.returncode) == ("[0.5 0.5 0.5] False\n", 0), done.stderr


def test_a_process_that_ends_while_a_loop_is_compiled_ends_well():
    done = run(STEP, "")
    assert (done.stdout[:13], done.stderr, done.returncode) == ("[0.5 0.5 0.5]", "", 0)


def test_a_forked_child_compiles_nothing_while_its_parent_does():
    code = "import os, time\n" + STEP + (
        "child = os.fork()\nif not child:\n    from npu_runtime.kernels.native import pool_loops\n"
        "    print(pool_loops.largest.is_ready, flush=True)\n    os._exit(0)\nos.waitpid(child, 0)\n"
    )  # fmt: skip
    done = run(code, "")
    assert (done.stdout.splitlines()[1], done.returncode) == ("False", 0), done.stderr


def test_a_loop_is_ready_some_time_after_it_was_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TF2NPU_NATIVE", "")
    from npu_runtime.kernels.native import optimizer_loops

    fresh = Loop(optimizer_loops.adagrad.python, optimizer_loops.adagrad.signature)
    assert not fresh.is_ready
    for _ in range(600):
        if fresh.is_ready:
            break
        time.sleep(0.1)
    assert fresh.is_ready


def test_a_loop_is_compiled_where_numba_can_keep_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TF2NPU_NATIVE", compiled.AT_ONCE)
    names: dict = {}
    exec("def doubled(x):\n    for i in range(x.size):\n        x[i] *= 2\n", names)  # a function without a file
    array = np.ones(3, np.float32)
    assert Loop(names["doubled"], "void(f4[::1])")(array)
    assert array.tolist() == [2, 2, 2]


def test_a_loop_that_numba_refuses_is_told_once_and_left_to_numpy(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("TF2NPU_NATIVE", compiled.AT_ONCE)

    def refused(x):
        return {}.no_such_thing

    assert not Loop(refused, "void(f4)")(1.0)
    assert not Loop(refused, "void(f4)").is_ready
    assert capsys.readouterr().err.count("numba could not compile the loop refused (TypingError") == 1


def test_a_numba_that_cannot_be_loaded_is_told_once(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("TF2NPU_NATIVE", compiled.AT_ONCE)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(compiled.importlib.util, "find_spec", lambda name: name)
    assert not any(Loop(lambda x: None, "void(f4)").is_ready for _ in range(2))
    assert capsys.readouterr().err.count("numba cannot be loaded (") == 1
