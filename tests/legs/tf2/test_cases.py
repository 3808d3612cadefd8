"""A script sees of its variables, results and errors what TensorFlow shows it, also where TensorFlow's copies are poisoned."""

from __future__ import annotations

import pytest

from tests.legs.tf2 import sides
from tests.legs.tf2.agreement import FILES, difference, differences
from tests.legs.tf2.child import said_by


@pytest.mark.parametrize("file", FILES)
def test_each_case_is_as_on_tensorflow(file: str) -> None:
    count, lines = differences(file)
    assert not lines, f"{len(lines)} of {count} cases:\n" + "\n".join(lines)


@pytest.mark.whole
@pytest.mark.parametrize("file", FILES)
def test_no_case_reads_a_stale_copy(file: str) -> None:
    count, lines = differences(file, {sides.POISON: "1"})
    assert not lines, f"{len(lines)} of {count} cases:\n" + "\n".join(lines)


def test_variables_of_the_bank_do_go_to_the_device_and_back() -> None:
    """Else the device would have no part in the agreement."""
    copies = said_by("run_cases.py", sides.DEVICE, "variables", "assigned_between_calls").lines[-1]["copies"]
    assert copies["up"] > 0 and copies["down"] > 0


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"gives": [1.0, 2.0]}, {"gives": [1.0, 2.1]}),
        ({"gives": [1.0]}, {"gives": [1.0, 1.0]}),
        ({"gives": [1.0]}, {"gives": [float("nan")]}),
        ({"gives": ["1.0"]}, {"gives": [1.0]}),
        ({"gives": [1.0]}, {"raises": ["ValueError", "no"]}),
        ({"raises": ["ValueError", "no"]}, {"gives": [1.0]}),
        ({"raises": ["ValueError", "no"]}, {"raises": ["ValueError", "never"]}),
        ({"gives": [1.0]}, None),
    ],
)
def test_the_bank_sees_a_difference(theirs, ours) -> None:
    assert difference("one", theirs, ours, 1e-5)


def test_the_bank_takes_what_is_the_same() -> None:
    nan = float("nan")
    assert not difference("one", {"gives": [1.0, nan, "a", 3]}, {"gives": [1.000001, nan, "a", 3]}, 1e-5)
    assert not difference("one", {"raises": ["ValueError", "no"]}, {"raises": ["ValueError", "no"], "traceback": "..."}, 1e-5)
    assert difference("one", {"gives": [1.0]}, {"gives": [1.000001]}, 0.0)
