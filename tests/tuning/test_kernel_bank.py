"""The bank of this machine's kernels, as a tuner uses it: damaged, hostile, and shared by two users."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from npu_runtime.kernels.algorithm_choice import set_tuner
from npu_runtime.kernels.linalg import matmul, product_trials
from npu_runtime.observers.tuning.bank.document import render
from npu_runtime.observers.tuning.bank.machine_bank import MachineBank, this_machine
from npu_runtime.observers.tuning.kernels.kernel_tuner import KernelTuner
from tests.kernels.harness import arr
from tests.tuning.test_bank_files import ROOT, SEED, Told, spoil_bytes

N_FILES = 1000
A, B = arr(96, 80).round(), arr(80, 96, seed=1).round()
NOBODY = 65534
"""The user of no rights that Linux systems have."""


@pytest.fixture(autouse=True)
def untuned() -> Iterator[None]:
    yield
    set_tuner(None)


def product(folder: Path, told: Told, seconds: float = 0.0) -> tuple[bytes, KernelTuner]:
    """A product by what a bank says, and who chose; without time nothing is tried."""
    tuner = KernelTuner(MachineBank(folder, told), False, seconds)
    set_tuner(tuner)
    return matmul.multiply(A, B, np.empty((96, 96), np.float32)).tobytes(), tuner


def bank_file(folder: Path) -> Path:
    return next(folder.glob("kernels_*.json"))


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> tuple[str, bytes]:
    """The name and the bytes of a bank with one choice."""
    folder = tmp_path_factory.mktemp("good")
    _, tuner = product(folder, Told(), 60.0)
    tuner.save()
    assert product(folder, Told())[1].n_known == 1
    return bank_file(folder).name, bank_file(folder).read_bytes()


def test_a_thousand_damaged_files_end_in_a_warning_and_the_same_numbers(tmp_path, good):
    rng, n_told = random.Random(SEED), 0
    exact = (A.astype(np.float64) @ B).astype(np.float32).tobytes()
    for n in range(N_FILES):
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / good[0]).write_bytes(spoil_bytes(rng, good[1]))
        told = Told()
        made, tuner = product(folder, told)
        assert made == exact and len(told) <= 1 and tuner.n_known + tuner.n_late == 1
        n_told += len(told)
    assert n_told > 0.9 * N_FILES


def test_what_the_bank_knows_costs_no_operands(tmp_path, good, monkeypatch):
    (tmp_path / good[0]).write_bytes(good[1])
    monkeypatch.setattr(product_trials, "operand", None)
    assert product(tmp_path, Told(), 60.0)[1].n_known == 1


CHOICES = ["columns nothing", "__class__", "/etc/passwd", 0, 2**40, -1]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_that_the_kernel_has_not_is_the_default(tmp_path, good, choice):
    key = repr((A.shape, B.shape, (True, True, True, False)))
    machine = this_machine()
    subject = {"processor": machine.processor, "cores": machine.cores, "numpy": machine.numpy}
    (tmp_path / good[0]).write_text(render("kernels", subject, [["MatMul", key, choice]]))
    made, tuner = product(tmp_path, told := Told())
    assert (tuner.n_known, tuner.n_late) == (0, 1) and told == []
    assert made == (A.astype(np.float64) @ B).astype(np.float32).tobytes()


OTHER_USER = """
import os, sys
from pathlib import Path
from npu_runtime.observers.tuning.bank.machine_bank import MachineBank
os.setuid(int(sys.argv[2]))
bank = MachineBank(Path(sys.argv[1]), print)
print("found", bank.get("kernel", "shape"))
print("kept", bank.put("kernel", "another shape", "theirs"))
"""


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.EMFILE])
def test_a_file_that_cannot_be_read_now_stays_as_it_is(tmp_path, good, monkeypatch, number):
    """The system's errors say nothing of the file: it may be the good bank of another user."""
    (tmp_path / good[0]).write_bytes(good[1])
    opened = os.open

    def refuse(path, *args, **kwargs):
        if path == good[0]:
            raise OSError(number, os.strerror(number))
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    bank = MachineBank(tmp_path, told := Told())
    assert bank.get("kernel", "shape") is None and not bank.put("kernel", "shape", "mine")
    assert bank.get("kernel", "shape") == "mine"
    assert len(told) == 1 and os.strerror(number) in told[0] and "TUNE_BANK_PATH" in told[0]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [good]


def test_a_bank_that_another_user_may_not_read_stays_where_it_is():
    """Anybody may write the folder, so nothing but the reader's care keeps the file.  Only root becomes another user; others take
    the part of both and take the right to read from themselves."""
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    folder = Path(tempfile.mkdtemp())
    try:
        mine = MachineBank(folder, told := Told())
        assert mine.put("kernel", "shape", "mine")
        folder.chmod(0o777)
        mine.file.path.chmod(0o600 if user == NOBODY else 0)
        done = subprocess.run(
            [sys.executable, "-c", OTHER_USER, str(folder), str(user)], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 0, done.stderr
        warning, found, kept = done.stdout.splitlines()
        assert "cannot be read (Permission denied)" in warning and (found, kept) == ("found None", "kept False")
        mine.file.path.chmod(0o600)
        assert [path.name for path in folder.iterdir()] == [mine.file.name]
        assert MachineBank(folder, told).get("kernel", "shape") == "mine" and told == []
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_another_user_reads_the_bank_and_writes_it_where_that_is_allowed(mode):
    """Only root becomes another user; others take the part of both."""
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    folder = Path(tempfile.mkdtemp())
    try:
        mine = MachineBank(folder, told := Told())
        assert mine.put("kernel", "shape", "mine")
        folder.chmod(mode)
        done = subprocess.run(
            [sys.executable, "-c", OTHER_USER, str(folder), str(user)], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "found mine" in done.stdout
        kept = "kept True" in done.stdout
        assert kept is (mode == 0o777 or user == os.geteuid()) and ("TUNE_BANK_PATH" in done.stdout) is not kept
        again = MachineBank(folder, told)
        assert again.get("kernel", "shape") == "mine" and again.get("kernel", "another shape") == ("theirs" if kept else None)
        assert again.put("kernel", "third shape", "mine") and told == []
    finally:
        shutil.rmtree(folder)
