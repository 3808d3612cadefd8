"""Kernels that are tuned on the clock of this machine."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime.kernels.algorithm_choice import Trials, save_choices, set_tuner
from npu_runtime.kernels.conv import conv_gradients
from npu_runtime.kernels.linalg import matmul, product_trials
from npu_runtime.kernels.windows.windows import Layout
from npu_runtime.observers.tuning.kernels.kernel_tuner import KernelTuner
from tests.how_many import drawn
from tests.kernels.cases.conv.conv_gradients import gradients
from tests.kernels.harness import Case, arr
from tests.kernels.test_convolutions import assert_same_as_tensorflow, convolutions


@pytest.fixture(autouse=True)
def untuned() -> Iterator[None]:
    yield
    set_tuner(None)


class Bank:
    """A bank in memory."""

    def __init__(self, known: dict[tuple[str, str], str | int] | None = None) -> None:
        self.known = dict(known or {})

    def get(self, kind: str, key: str) -> str | int | None:
        return self.known.get((kind, key))

    def put_all(self, choices: list[tuple[str, str, str | int]], replaces: bool = True) -> bool:
        self.known.update({(kind, key): choice for kind, key, choice in choices})
        return True


class Nth:
    """Takes the same one of all algorithms that there are for a shape."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.taken: set[str] = set()

    def choose(self, kernel: str, shapes: Hashable, default: str, trials: Trials) -> str:
        names = sorted(trials())
        assert default in names
        self.taken.add(f"{kernel} {names[self.n % len(names)]}")
        return names[self.n % len(names)]

    def save(self) -> None:
        """Keeps nothing."""


@pytest.mark.parametrize("n", range(5))
def test_every_algorithm_of_a_convolution_gives_tensorflows_numbers(n: int) -> None:
    tuner = Nth(n)

    @given(convolutions(1))
    @settings(deadline=None, max_examples=drawn(25))
    def check(one: Case) -> None:
        for case in (one, *gradients(one)):
            assert_same_as_tensorflow(case)

    set_tuner(tuner)
    check()
    assert tuner.taken


@given(
    st.integers(0, 15), st.integers(1, 90), st.integers(1, 90), st.integers(1, 300), st.booleans(), st.booleans(), st.booleans()
)
@settings(deadline=None, max_examples=drawn(150))
def test_every_way_of_a_product_gives_the_same(n: int, m: int, k: int, columns: int, left: bool, right: bool, ends: bool) -> None:
    """Whole numbers, whose sums are exact in any order."""
    a, b = arr(m, k).round(), arr(k, columns, seed=1).round()
    a, b = np.asfortranarray(a) if left else a, np.asfortranarray(b) if right else b
    set_tuner(Nth(n))
    out = matmul.multiply(a, b, np.empty((m, columns), np.float32), _double if ends else None)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64) * (2 if ends else 1))


def _double(block: np.ndarray, columns: slice = slice(None)) -> None:
    block *= 2


def _trials(**results: float) -> Trials:
    return lambda: {name: lambda value=value: np.full(3, value, np.float32) for name, value in results.items()}


def test_an_algorithm_that_is_less_exact_is_not_taken() -> None:
    tuner = KernelTuner(None, False, 60)
    for shape in range(20):
        assert tuner.choose("kernel", shape, "slow", _slow_but_right) == "slow"


def _slow_but_right() -> dict:
    def slow() -> np.ndarray:
        return np.ones((1000, 1000), np.float32)

    return {"slow": slow, "wrong": lambda: np.full((1000, 1000), 1.001, np.float32), "nan": lambda: np.full((1000, 1000), np.nan)}


def test_the_fastest_is_taken_and_asked_for_once() -> None:
    made = []

    def trials() -> dict:
        made.append(1)
        large = np.ones(1_000_000, np.float32)
        return {"slow": lambda: np.sqrt(np.sqrt(large) + 0.0)[:9], "fast": lambda: np.ones(9, np.float32)}

    tuner = KernelTuner(None, False, 60)
    assert {tuner.choose("kernel", (1, 2), "slow", trials) for _ in range(9)} == {"fast"}
    assert len(made) == 1 and (tuner.n_tried, tuner.n_changed) == (1, 1)
    assert tuner.gained > 0


def test_a_bank_decides_before_the_clock_and_keeps_what_is_new() -> None:
    bank = Bank({("kernel", "(1, 2)"): "b"})
    tuner = KernelTuner(bank, False, 60)
    assert tuner.choose("kernel", (1, 2), "a", _trials(a=1, b=5)) == "b"  # of another value: so it was not tried
    made = tuner.choose("kernel", (1, 3), "a", _trials(a=1, b=1))
    tuner.save()
    assert bank.known["kernel", "(1, 3)"] == made and (tuner.n_known, tuner.n_tried) == (1, 1)


@pytest.mark.parametrize("strange", ["c", "", 7, None])
def test_what_a_bank_has_and_the_kernel_has_not_is_tried_again(strange) -> None:
    tuner = KernelTuner(Bank({("kernel", "1"): strange}), False, 60)
    assert tuner.choose("kernel", 1, "a", _trials(a=1)) == "a"
    assert tuner.n_known == 0


def test_a_repeated_tuning_tries_what_the_bank_has() -> None:
    tuner = KernelTuner(Bank({("kernel", "1"): "b"}), True, 60)
    assert tuner.choose("kernel", 1, "a", _trials(a=1, b=5)) == "a"


def test_what_is_out_of_time_keeps_the_default_also_in_the_next_run() -> None:
    bank = Bank()
    tuner = KernelTuner(bank, False, 0)
    assert tuner.choose("kernel", 1, "slow", _slow_but_right) == "slow" and tuner.n_late == 1
    tuner.save()
    assert bank.known == {("kernel", "1"): "slow"}


def test_without_a_search_the_bank_is_read_and_not_written() -> None:
    bank = Bank({("kernel", "1"): "b"})
    tuner = KernelTuner(bank, False, 60, searches=False)
    assert [tuner.choose("kernel", shape, "a", _trials(a=1, b=5)) for shape in (1, 2)] == ["b", "a"]
    tuner.save()
    assert bank.known == {("kernel", "1"): "b"} and (tuner.n_known, tuner.n_tried, tuner.n_late) == (1, 0, 0)


def test_an_algorithm_that_fails_is_not_taken() -> None:
    def fails() -> np.ndarray:
        raise ZeroDivisionError

    tuner = KernelTuner(None, False, 60)
    assert tuner.choose("kernel", 1, "a", lambda: {"a": lambda: np.ones(3), "b": fails}) == "a"


def test_ways_that_this_blas_does_not_know_are_not_tried(monkeypatch) -> None:
    """As with OpenBLAS' kernels for Haswell, which pack every product."""
    monkeypatch.setattr(product_trials, "SMALL_PRODUCT", 0)
    set_tuner(tuner := Nth(0))
    for n in range(20):
        tuner.n = n
        matmul.multiply(arr(96, 80), arr(80, 96), np.empty((96, 96), np.float32))
    assert len(tuner.taken) > 5 and not any("few" in name for name in tuner.taken)


def test_large_planes_are_not_tried() -> None:
    tuner = Nth(0)
    set_tuner(tuner)
    rows, cols = Layout.of([1, 2, 2, 1], "SAME", "NHWC", [1, 1, 1, 1], []).axes((160, 160), (5, 5))
    dy, w = np.ones((1, 80, 80, 8), np.float32), np.ones((5, 5, 128, 8), np.float32)
    conv_gradients.input_gradient(dy, w, rows, cols, np.empty((1, 160, 160, 128), np.float32))
    assert "Conv2DBackpropInput col2im" not in tuner.taken and tuner.taken


def test_choices_of_all_sessions_are_kept_and_the_first_stays() -> None:
    bank = Bank()
    first, second = (KernelTuner(MachineLike(bank), False, 0) for _ in range(2))
    first.choose("kernel", 1, "a", _trials(a=1))
    second.choose("kernel", 1, "b", _trials(b=1))
    set_tuner(first)
    save_choices()
    set_tuner(second)
    save_choices()
    assert bank.known == {("kernel", "1"): "a"}


class MachineLike:
    """A bank in which what is there stays."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank

    def get(self, kind: str, key: str) -> None:
        return None

    def put_all(self, choices: list[tuple[str, str, str | int]], replaces: bool) -> bool:
        new = {(kind, key): choice for kind, key, choice in choices}
        self.bank.known = {**self.bank.known, **new} if replaces else {**new, **self.bank.known}
        return True


def test_two_threads_get_the_same() -> None:
    """Each tries at the same time, and the machine decides which is faster."""
    tuner, together, found = KernelTuner(None, False, 60), Barrier(4), []

    def ask() -> None:
        together.wait()
        found.append([tuner.choose("kernel", shape, "a", _trials(a=1, b=1, c=1)) for shape in range(50)])

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 4
