"""The six rows of figure 5-22: as a table, by a tuner with a bank on disk, and with two processes at once."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.cost.choice import cost_with
from npu_runtime.errors import Internal
from npu_runtime.observers.tuning.programs.outcome import Outcome
from npu_runtime.observers.tuning.programs.program_tuner import ProgramTuner
from npu_runtime.observers.tuning.programs.rules import decide
from npu_runtime.observers.tuning.programs.tuning_request import TuningRequest
from tests.tuning import tasks

CHIP = load_chip("Ascend910A")
ROOT = Path(__file__).parents[2]
# (in a bank before, tuned now, better): append, hit, reserved, update, times, compiled with; the table of the textbook's figure
FIGURE = {
    (False, True, True): (True, False, False, False, True, "tuned"),
    (False, True, False): (True, False, False, False, True, "default"),
    (True, False, False): (False, True, True, False, False, "bank"),
    (True, True, True): (False, True, False, True, True, "tuned"),
    (True, True, False): (False, True, True, False, True, "bank"),
    (False, False, False): (False, False, False, False, False, "default"),
}


@pytest.mark.parametrize("row", FIGURE)
def test_the_rules_are_those_of_the_figure(row):
    assert astuple(decide(*row)) == FIGURE[row]


def test_what_was_not_tuned_is_not_better():
    assert decide(True, False, True) == decide(True, False, False)


class Told(list):
    """Takes the lines of a tuner."""

    def __call__(self, line: str) -> None:
        self.append(line)


def tuned(folder: Path, task, search, told=None, **request) -> Outcome:
    """The outcome of a new process for one operator."""
    made = ProgramTuner(TuningRequest("RL,GA", folder, **request), CHIP, search, Told() if told is None else told)
    program = made.tune("run", [task])
    choice = made.choice(task, CHIP)
    us = cost_with(task.work, CHIP, choice).us
    assert us == program.outcomes[0].after_us <= program.outcomes[0].default_us
    assert made.choice(task, load_chip("Ascend910B2")) is None
    return program.outcomes[0]


def flags(outcome: Outcome) -> tuple:
    return astuple(outcome.decision)


def bank(folder: Path) -> dict:
    return json.loads((folder / "Ascend910A_operators.json").read_text())


class TestRowsOnDisk:
    def test_new_and_better_is_appended_and_used(self, tmp_path):
        found = tuned(tmp_path, tasks.improvable(CHIP), tasks.walk)
        assert flags(found) == FIGURE[False, True, True] and found.after_us < found.before_us == found.default_us
        assert bank(tmp_path)["entries"][0]["us"] == found.after_us

    def test_new_and_not_better_stores_the_default(self, tmp_path):
        found = tuned(tmp_path, tasks.improvable(CHIP), tasks.defaults)
        assert flags(found) == FIGURE[False, True, False] and found.after_us == found.before_us
        again = tuned(tmp_path, tasks.improvable(CHIP), tasks.walk)
        assert flags(again) == FIGURE[True, False, False] and again.after_us == found.after_us

    def test_known_is_not_searched(self, tmp_path):
        task = tasks.improvable(CHIP)
        first = tuned(tmp_path, task, tasks.walk)
        before = (tmp_path / "Ascend910A_operators.json").read_bytes()
        found = tuned(tmp_path, task, lambda *_: pytest.fail("it was searched"))
        assert flags(found) == FIGURE[True, False, False] and found.after_us == first.after_us and not found.rounds
        assert (tmp_path / "Ascend910A_operators.json").read_bytes() == before

    def test_repeated_and_better_is_an_update(self, tmp_path):
        task = tasks.improvable(CHIP)
        stored = tuned(tmp_path, task, tasks.defaults)
        found = tuned(tmp_path, task, tasks.walk, repeats=True)
        assert flags(found) == FIGURE[True, True, True] and found.after_us < found.before_us == stored.after_us
        assert [entry["us"] for entry in bank(tmp_path)["entries"]] == [found.after_us]

    def test_repeated_and_not_better_keeps_the_bank(self, tmp_path):
        task = tasks.improvable(CHIP)
        stored = tuned(tmp_path, task, tasks.walk)
        found = tuned(tmp_path, task, tasks.defaults, repeats=True)
        assert flags(found) == FIGURE[True, True, False] and found.after_us == found.before_us == stored.after_us

    @pytest.mark.parametrize("mode", ["RL", "GA"])
    def test_no_tunable_kind_has_no_flag(self, tmp_path, mode):
        work = tasks.improvable(CHIP)
        if mode == "RL":
            made = ProgramTuner(TuningRequest(mode, tmp_path), CHIP, tasks.walk, Told()).tune("run", [work])
            assert flags(made.outcomes[0]) == FIGURE[False, False, False]
        made = ProgramTuner(TuningRequest(mode, tmp_path), CHIP, tasks.walk, Told()).tune("run", [tasks.copy_task("unique")])
        assert made.outcomes == [] and not list(tmp_path.iterdir())

    def test_a_bank_that_is_not_enabled_is_not_read(self, tmp_path):
        task = tasks.improvable(CHIP)
        tuned(tmp_path, task, tasks.walk)
        found = tuned(tmp_path, task, tasks.defaults, reads_bank=False)
        assert flags(found) == FIGURE[False, True, False]
        assert bank(tmp_path)["entries"][0]["us"] < found.after_us  # the better entry stays


class TestAroundTheRows:
    def test_what_is_out_of_time_keeps_its_default_and_says_so(self, tmp_path):
        found = tuned(tmp_path, tasks.improvable(CHIP), tasks.too_late)
        assert found.is_late and flags(found) == FIGURE[False, False, False] and not list(tmp_path.iterdir())

    def test_a_search_that_fails_costs_a_warning(self, tmp_path):
        def search(*_):
            raise Internal("a process that tunes has ended with -9")

        told = Told()
        found = tuned(tmp_path, tasks.improvable(CHIP), search, told)
        assert found.after_us == found.default_us and "has ended with -9; the operators" in told[0]

    def test_an_operator_is_tuned_once_in_a_process(self, tmp_path):
        calls = []

        def search(works, *rest):
            calls.append(len(works))
            return tasks.walk(works, *rest)

        tuner = ProgramTuner(TuningRequest("GA", tmp_path), CHIP, search, Told())
        task = tasks.improvable(CHIP)
        product = task.work.product
        other = tasks.product_task("second/MatMul", product.m, product.n, product.k)
        first = tuner.tune("run 1", [task, other])
        again = tuner.tune("run 2", [task])
        assert calls == [1] and len(first.outcomes) == 1 and len(first.outcomes[0].operators) == 2
        assert flags(again.outcomes[0]) == FIGURE[True, False, False]

    def test_a_slower_entry_is_not_used(self, tmp_path):
        task = tasks.improvable(CHIP)
        slow = replace(tasks.walk([task.work], CHIP)[0].choice, base_m=16, base_n=16, base_k=16, depth_parts=1)
        entry = ProgramTuner(TuningRequest("GA", tmp_path), CHIP, tasks.defaults, Told())
        entry.tune("run", [task])
        _replace_record(tmp_path, task, slow)
        told = Told()
        found = tuned(tmp_path, task, tasks.defaults, told)
        assert flags(found) == FIGURE[False, True, False] and "slower than the default" in told[0]

    def test_a_record_of_another_product_is_not_used(self, tmp_path):
        task = tasks.improvable(CHIP)
        tuned(tmp_path, task, tasks.walk)
        _change(tmp_path, lambda entry: entry["record"].update(baseM=entry["record"]["baseM"] + 1))
        told = Told()
        found = tuned(tmp_path, task, tasks.walk, told)
        assert flags(found) == FIGURE[False, True, True] and "is not used" in told[0]

    def test_the_time_of_a_bank_is_not_believed(self, tmp_path):
        task = tasks.improvable(CHIP)
        first = tuned(tmp_path, task, tasks.defaults)
        _change(tmp_path, lambda entry: entry.update(us=0.001))
        assert tuned(tmp_path, task, tasks.walk).after_us == first.after_us
        found = tuned(tmp_path, task, tasks.walk, repeats=True)
        assert flags(found) == FIGURE[True, True, True] and bank(tmp_path)["entries"][0]["us"] == found.after_us


def _change(folder: Path, change) -> None:
    """Change an entry of a bank as its writer could have, with the right checksum."""
    from npu_runtime.observers.tuning.bank.document import render

    document = bank(folder)
    change(document["entries"][0])
    text = render(document["kind"], document["subject"], document["entries"])
    (folder / "Ascend910A_operators.json").write_text(text)


def _replace_record(folder: Path, task, choice) -> None:
    from npu_runtime.cost.choice import record_of

    _change(folder, lambda entry: entry.update(record=record_of(choice, task.work, CHIP)))


PROCESS = """
import json, sys
from pathlib import Path
from npu_runtime.observers.tuning.programs.program_tuner import ProgramTuner
from npu_runtime.observers.tuning.programs.tuning_request import TuningRequest
from npu_formats.device.chip import load_chip
from dataclasses import astuple
from tests.tuning import tasks
folder, repeats, first = Path(sys.argv[1]), sys.argv[2] == "repeat", int(sys.argv[3])
chip = load_chip("Ascend910A")
print("ready", flush=True)
sys.stdin.readline()
tuner = ProgramTuner(TuningRequest("GA", folder, repeats=repeats), chip, tasks.walk, lambda line: print(line, file=sys.stderr))
for n in range(first, first + 12):  # a write each
    made = tuner.tune("run", [tasks.product_task("x", 16 * n, 48, 64)])
    print(json.dumps(astuple(made.outcomes[0].decision)))
"""


def together(folder: Path, *arguments: tuple[str, int]) -> list[list[list]]:
    """The decisions of processes that begin at the same time."""
    command = [sys.executable, "-c", PROCESS, str(folder)]
    started = [
        subprocess.Popen([*command, mode, str(first)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for mode, first in arguments
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120)[0] for process in started]
    assert all(process.returncode == 0 for process in started)
    return [[json.loads(line) for line in text.splitlines()] for text in outputs]


def test_two_processes_at_once_lose_no_entry(tmp_path):
    first, second = together(tmp_path, ("once", 1), ("once", 7))
    assert len(bank(tmp_path)["entries"]) == 18
    appended = [[decision[0] for decision in made] for made in (first, second)]
    assert all(appended[0][:6]) and all(appended[1][6:])  # what only one of them has tuned
    assert all(
        map(any, zip(appended[0][6:], appended[1][:6], strict=True))
    )  # the later one may find what the other has put there
    found = {tuple(decision) for decision in first + second if not decision[0]}
    assert found <= {FIGURE[True, False, False]}
    third, fourth = together(tmp_path, ("once", 1), ("repeat", 7))
    assert {tuple(decision) for decision in third} == {FIGURE[True, False, False]}
    assert {tuple(decision) for decision in fourth} <= {FIGURE[True, True, False], FIGURE[True, True, True]}
    assert len(bank(tmp_path)["entries"]) == 18
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Ascend910A_operators.json"]
