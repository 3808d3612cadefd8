"""`tf2npu check` on scripts for TensorFlow 2: what was planted is named, and what is right agrees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from npu_runtime.config import ORIGIN
from tests.check.forked_check import Checked, checked
from tests.check.plants import BREAK
from tests.legs.tf2.checked_scripts import EPOCH, HOST_SIDE, MIXED_KERAS
from tests.legs.tf2.tool_scripts import FIT, LOOP, LSTM, line_of, python, script
from tf2npu.launch.temporary_conversion import convert_for_run

LARGE = LOOP.replace("tf.ones([8, 4]) * 0.1", "tf.ones([8, 4])").replace("tf.matmul(x, w)", "1e-4 * (3e4 * tf.matmul(x, w))")
"""Between both factors is what fp16 has no room for."""
WRONG_RELU = f"{BREAK}\nkernels['Relu'] = wrong(kernels['Relu'], lambda value: (value * 1.05).astype(value.dtype))\n"


def check(folder: Path, text: str, *, turns: int = 1, edit: tuple[str, str] = ("", ""), **wanted: Any) -> tuple[Path, Checked]:
    """The script, and its check.  edit: of the converted script, an error of its conversion."""
    (folder / "project").mkdir()
    path, migrated = script(folder / "project", text, opens=False, turns=turns), None
    if edit[0]:
        migrated = convert_for_run(path, folder / "conversion").script
        assert migrated.read_text().count(edit[0]) == 1
        migrated.write_text(migrated.read_text().replace(*edit))
    return path, checked(path, [], folder / "check", migrated=migrated, **wanted)


def first_of(found: Checked) -> dict[str, Any]:
    """The first mode that differs."""
    assert found.code == 1, found.text
    return next(mode for mode in found.document["modes"] if mode["verdict"] == "differs")


def test_results_that_do_not_fit_are_named_with_their_line(tmp_path: Path):
    path, found = check(tmp_path, LARGE, modes=["force_fp16"])
    mode = first_of(found)
    first = mode["first_difference"]
    assert (mode["mode"], mode["cause"], first["what"]) == ("force_fp16", "overflow", "overflow"), found.text
    assert first["node"] == "mul" and first["line"] == line_of(path, "3e4 * tf.matmul"), found.text
    assert "mul" in mode["least_change"] and mode["least_change_is_proven"], found.text


def test_a_kernel_that_is_wrong_is_found_in_the_turns_of_a_loop(tmp_path: Path):
    path, found = check(tmp_path, FIT, turns=2, modes=[ORIGIN], prelude=WRONG_RELU)
    mode = first_of(found)
    assert (mode["run"], mode["cause"]) == ("C", "kernel"), found.text
    first = mode["first_difference"]
    assert first["op"] == "Relu" and first["line"] == line_of(path, "model.fit("), found.text
    assert first["own_error"] == pytest.approx(0.05, rel=1e-3)


def test_what_the_conversion_changed_is_named(tmp_path: Path):
    path, found = check(tmp_path, FIT, modes=[ORIGIN], steps=1, edit=("Adam(1e-2)", "Adam(2e-2)"))
    mode = first_of(found)
    first = mode["first_difference"]
    assert (mode["run"], mode["cause"], first["node"]) == ("B", "conversion", "learning_rate"), found.text
    assert first["line"] == line_of(path, "tf.keras.optimizers.Adam"), found.text


@pytest.mark.whole
def test_a_turn_of_a_loop_over_the_elements_of_an_iterator_is_a_step(tmp_path: Path):
    _, found = check(tmp_path, EPOCH, steps=3, modes=[ORIGIN])
    assert found.code == 0, found.text
    assert [len(run["loss"]) for run in found.document["runs"]] == [3, 3, 3, 3, 3]


@pytest.mark.whole
def test_tables_generators_and_python_in_a_step_are_those_of_the_script(tmp_path: Path):
    """Two functions train in turn, and the losses are those that the script prints without a check."""
    path, found = check(tmp_path, HOST_SIDE, steps=4, modes=[ORIGIN])
    assert found.code == 0, found.text
    printed = [float(word) for word in python(path).stdout.split()[:4]]
    assert next(run["loss"] for run in found.document["runs"] if run["run"] == "A") == pytest.approx(printed, rel=1e-5)


@pytest.mark.whole
def test_updates_in_a_branch_are_a_step(tmp_path: Path):
    _, found = check(tmp_path, MIXED_KERAS, modes=[ORIGIN])
    assert found.code == 0, found.text


@pytest.mark.whole
def test_a_function_that_calls_another_agrees_node_by_node(tmp_path: Path):
    """A recurrent layer is a function of its own; its nodes are compared as those of the step are."""
    _, found = check(tmp_path, LSTM)
    assert found.code == 0, found.text
    last = found.document["runs"][-1]
    assert last["agreeing"] == last["compared"] > 50


def test_a_script_that_trains_outside_of_functions_makes_no_step(tmp_path: Path):
    _, found = check(tmp_path, LOOP.replace("@tf.function\n", ""))
    assert found.code == 3 and "a step is seen that is a call of a tf.function and changes variables" in found.text
