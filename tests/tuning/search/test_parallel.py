"""Searches in processes: the same results whatever their number, within a time, and nothing of the user's script in them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.errors import Internal, InvalidArgument, ResourceExhausted
from npu_runtime.observers.tuning.search import parallel
from npu_runtime.observers.tuning.search.genetic import tune_product
from npu_runtime.observers.tuning.search.parallel import tune_all
from npu_runtime.observers.tuning.search.vector_search import tune_vector
from tests.cost.shapes import product
from tests.tuning.tasks import improvable
from tests.tuning.test_rules import Told, tuned

CHIP = load_chip("Ascend910A")
PRODUCTS = [CoreWork(product(m, 777, 300, 1, dtype), 0.0, 0.0, 5.0) for m in (100, 1000) for dtype in ("float16", "int8")]
VECTORS = [CoreWork(None, n_bytes, n_bytes, n_bytes / 256) for n_bytes in (3000.0, 30_000.0)]
WORKS = [VECTORS[0], PRODUCTS[0], PRODUCTS[1], VECTORS[1], PRODUCTS[0], PRODUCTS[2], PRODUCTS[3]]
SCRIPT = """
print("the script runs")
from npu_runtime.cost.core_task import CoreWork
from npu_formats.device.chip import load_chip
from npu_runtime.observers.tuning.search.parallel import tune_all
found = tune_all([CoreWork(None, 3000.0, 3000.0, 10.0)] * 3, load_chip("Ascend910A"), "RL", 2)
print(len(found), found[0] == found[1] == found[2], found[0].us < found[0].default_us)
"""


def test_results_do_not_depend_on_the_number_of_processes():
    wanted = [tune_vector(work, CHIP) if work.product is None else tune_product(work, CHIP) for work in WORKS]
    assert [tune_all(WORKS, CHIP, "RL,GA", workers) for workers in (1, 2)] == [wanted, wanted]


@pytest.mark.parametrize(("mode", "is_searched"), [("GA", [False, True]), ("RL", [True, False])])
def test_a_mode_searches_its_kind(mode: str, is_searched: list[bool]):
    found = tune_all([VECTORS[0], PRODUCTS[0]], CHIP, mode, 1)
    assert [one is not None for one in found] == is_searched


def test_what_is_out_of_time_has_no_result():
    assert tune_all(WORKS, CHIP, "RL,GA", 2, 0.0) == [None] * len(WORKS)
    began = time.monotonic()
    found = tune_all([CoreWork(product(m, 999, 999), 0.0, 0.0, 0.0) for m in range(100, 4100)], CHIP, "GA", 2, 2.0)
    assert time.monotonic() - began < 2.0 + parallel._PATIENCE_SECONDS
    assert found[-1] is None
    assert all(one is None or one == tune_product(CoreWork(product(100 + at, 999, 999), 0.0, 0.0, 0.0), CHIP)
               for at, one in enumerate(found[:4]))  # fmt: skip


def test_nothing_to_search_starts_no_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parallel, "_BOOT", "raise SystemExit(1)")
    assert tune_all([], CHIP, "RL,GA", 2) == []
    assert tune_all(VECTORS, CHIP, "GA", 2) == [None, None]


@pytest.mark.parametrize(
    ("mode", "workers", "said"), [("ga", 1, "give one of GA, RL, RL,GA, GA,RL"), ("GA", 0, "one worker at least, not 0")]
)  # fmt: skip
def test_wrong_settings_say_what_to_give(mode: str, workers: int, said: str):
    with pytest.raises(InvalidArgument, match=said):
        tune_all(WORKS, CHIP, mode, workers)


def test_a_process_that_ends_by_itself_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parallel, "_BOOT", "raise SystemExit(7)")
    with pytest.raises(Internal, match="a process that tunes has ended with 7"):
        tune_all(WORKS, CHIP, "RL,GA", 2)


def _fork_fails(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def _no_thread(_: threading.Thread) -> NoReturn:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize(
    ("target", "name", "value", "said"),
    [
        (sys, "executable", "/no/such/python", "No such file"), (sys, "executable", None, "no process can be started"),
        (subprocess, "Popen", _fork_fails, "temporarily unavailable"),
        (threading.Thread, "start", _no_thread, "can't start new thread"),
        (threading.Timer, "start", _no_thread, "can't start new thread"),
    ],
)  # fmt: skip
def test_where_nothing_can_be_started_the_defaults_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: object, name: str, value: object, said: str
):
    monkeypatch.setattr(target, name, value)
    _all_keep_their_defaults(tmp_path, said)


def test_in_a_folder_that_is_gone_the_defaults_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    _all_keep_their_defaults(tmp_path, "No such file")


def _all_keep_their_defaults(folder: Path, said: str) -> None:
    with pytest.raises(ResourceExhausted, match=said):
        tune_all(WORKS, CHIP, "RL,GA", 2, 60.0)
    told = Told()
    found = tuned(folder, improvable(CHIP), tune_all, told)
    assert found.is_late and found.after_us == found.default_us and not list(folder.iterdir())
    assert len(told) == 1 and said in told[0] and "keep what they had" in told[0]


def test_processes_end_with_their_parent():
    """A parent that is killed leaves none behind: the last of them closes its end of the pipe that all inherit."""
    code = (
        "from tests.cost.shapes import product; from npu_runtime.cost.core_task import CoreWork\n"
        "from npu_formats.device.chip import load_chip; from npu_runtime.observers.tuning.search.parallel import tune_all\n"
        "works = [CoreWork(product(m, 999, 999), 0.0, 0.0, 0.0) for m in range(100, 9100)]\n"
        "print('begins', flush=True); tune_all(works, load_chip('Ascend910A'), 'GA', 2)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert parent.stdout is not None and parent.stdout.readline() == b"begins\n"
    time.sleep(1.0)
    parent.kill()
    _, said = parent.communicate(timeout=30)
    assert said == b""


def test_a_process_does_not_run_the_script_again(tmp_path: Path):
    """As `multiprocessing` would, for a script that does not ask whether it is the main one."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "msgspec.py").write_text("raise SystemExit('a module of the current folder')", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", f"import runpy, sys; sys.path.pop(0); runpy.run_path({str(path)!r}, run_name='__main__')"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert run.stdout.splitlines() == ["the script runs", "3 True True"], run.stderr


def test_a_process_imports_no_tensorflow():
    code = "import npu_runtime.observers.tuning.search.parallel as p, sys, io; p._tune; " + (
        "from npu_runtime.observers.tuning.search import genetic, vector_search; print('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
