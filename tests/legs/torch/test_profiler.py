"""torch_npu.profiler on the simulated device: schedules as PyTorch's own has them, folders, and what is refused in a line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import torch
from torch_npu import profiler
from torch_npu._device import dispatch

from npu_formats.user_frames import calling_line

BOTH = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU]
DETAILED = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)


class Script:
    """A small training, a step at a time."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).npu()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self) -> None:
        self.optimizer.zero_grad()
        inputs, labels = torch.randn(5, 8).npu(), torch.randint(4, (5,)).npu()
        torch.nn.functional.cross_entropy(self.model(inputs), labels).backward()
        self.optimizer.step()


def train(n_steps: int, prof: profiler.profile) -> None:
    script = Script()
    for _ in range(n_steps):
        script.step()
        prof.step()


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "ASCEND_PROFILER_OUTPUT" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("numbers", [
    {"wait": 1, "warmup": 1, "active": 3, "repeat": 2}, {"wait": 0, "warmup": 0, "active": 1},
    {"wait": 2, "warmup": 0, "active": 1, "repeat": 1, "skip_first": 3},
    {"wait": 3, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 1, "skip_first_wait": 1},
])  # fmt: skip
def test_a_schedule_does_what_that_of_pytorch_does(numbers: dict[str, int]) -> None:
    own, pytorchs = profiler.schedule(**numbers), torch.profiler.schedule(**numbers)
    assert [own(step).name for step in range(30)] == [pytorchs(step).name for step in range(30)]


def test_wrong_numbers_of_a_schedule_are_told_and_passed_over(capsys) -> None:
    chosen = profiler.schedule(wait=-1, warmup="1", active=0)
    assert (chosen.wait, chosen.warmup, chosen.active) == (0, 0, 1)
    assert capsys.readouterr().err.count("must be a whole number") == 3
    with pytest.raises(ValueError, match="0 or more"):
        chosen(-1)


def test_a_profile_of_two_steps_writes_their_folder(tmp_path: Path) -> None:
    with profiler.profile(
        activities=BOTH, schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1), record_shapes=True, with_stack=True,
        on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), "worker"), experimental_config=DETAILED,
    ) as prof:  # fmt: skip
        prof.add_metadata("dataset", "planted")
        prof.add_metadata_json("sizes", "[8, 16]")
        train(6, prof)
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("worker_") and folder.name.endswith("_ascend_pt")
    kernels, operators = table(folder, "kernel_details.csv"), table(folder, "operator_details.csv")
    assert {row["Step Id"] for row in kernels} == {"2", "3"}
    products = [row for row in kernels if row["Type"].startswith("MatMul")]
    assert len(products) == 2 * 5  # of a step: two layers forward, two weights, and one input backward
    assert products[0]["Input Shapes"].startswith('"5,8;')
    called = [row for row in operators if row["Name"] == "aten::addmm"]
    assert len(called) == 4 and f"{Path(__file__)}(" in called[0]["Call Stack"] and ": step" in called[0]["Call Stack"]
    assert json.loads((folder / "profiler_metadata.json").read_text()) == {"dataset": "planted", "sizes": [8, 16]}
    info = json.loads((folder / "profiler_info.json").read_text())
    assert info["config"]["experimental_config"]["_profiler_level"] == "Level1"


def test_each_cycle_has_a_folder_and_what_is_outside_leaves_none(tmp_path: Path) -> None:
    ready = profiler.tensorboard_trace_handler(str(tmp_path))
    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=0, active=1, repeat=2), on_trace_ready=ready) as prof:
        train(6, prof)
    steps = [{row["Step Id"] for row in table(folder, "kernel_details.csv")} for folder in sorted(tmp_path.iterdir())]
    assert steps == [{"1"}, {"3"}]


def test_a_profile_without_a_schedule_takes_all_until_it_stops(tmp_path: Path) -> None:
    seen = []
    prof = profiler.profile(on_trace_ready=seen.append)
    Script().step()
    prof.start()
    Script().step()
    prof.stop()
    prof.stop()
    Script().step()
    assert seen == [prof]
    prof.export_chrome_trace(str(tmp_path / "below" / "trace.json"))
    events = json.loads((tmp_path / "below" / "trace.json").read_text())
    called = [event for event in events if event.get("cat") == "cpu_op"]
    assert sum(event["name"] == "aten::addmm" for event in called) == 2
    lines = {event["args"]["Source"].rpartition(":")[0] for event in called}
    assert lines == {calling_line().rpartition(":")[0]}
    assert not any(getattr(one, "__self__", None).__class__.__name__ == "CallWindow" for one in dispatch.OBSERVERS)


def test_stacks_are_written_for_flame_graphs(tmp_path: Path, capsys) -> None:
    for with_stack in (False, True):
        with profiler.profile(with_stack=with_stack) as prof:
            Script().step()
        prof.export_stacks(str(tmp_path / "stacks.log"), metric="self_npu_time_total")
        assert (tmp_path / "stacks.log").exists() is with_stack
    assert "export_stacks needs with_stack=True" in capsys.readouterr().err
    line = next(line for line in (tmp_path / "stacks.log").read_text().splitlines() if "aten::addmm" in line)
    assert "(): step" not in line and line.split(";")[-2].endswith(": step") and int(line.rpartition(" ")[2]) > 0


def test_memory_grows_from_step_to_equal_step_as_the_device_says(tmp_path: Path) -> None:
    ready, kept, said = profiler.tensorboard_trace_handler(str(tmp_path)), [], []
    schedule = profiler.schedule(wait=0, warmup=0, active=3, repeat=1)
    with profiler.profile(schedule=schedule, on_trace_ready=ready, profile_memory=True) as prof:
        for _ in range(3):
            kept.append(torch.ones(1 << 18).npu())
            said.append(torch.npu.memory_allocated() / 2**20)
            prof.step()
    (folder,) = tmp_path.iterdir()
    rows = table(folder, "memory_record.csv")
    assert [float(row["Total Allocated(MB)"]) for row in rows] == pytest.approx(said, abs=1e-6)
    assert said[2] - said[0] == 2.0 and {(row["Component"], row["Device Type"]) for row in rows} == {("PTA", "NPU:0")}


def test_an_error_in_the_block_still_writes_what_was_collected(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))):
        Script().step()
        raise ZeroDivisionError
    (folder,) = tmp_path.iterdir()
    assert table(folder, "operator_details.csv")


def test_what_is_not_done_is_said_in_a_line(tmp_path: Path, capsys) -> None:
    (tmp_path / "file").write_text("mine")
    handler = profiler.tensorboard_trace_handler(str(tmp_path / "file"))
    config = profiler._ExperimentalConfig(l2_cache=True, export_type="db", aic_metrics=profiler.AiCMetrics.Memory)
    with profiler.profile(on_trace_ready=handler, profile_memory="yes", use_cuda=True, experimental_config=config) as prof:
        prof.export_chrome_trace(str(tmp_path / "early.json"))
        Script().step()
    prof.export_memory_timeline(str(tmp_path / "memory.html"))
    prof.step()
    said = capsys.readouterr().err
    for text in (
        "l2_cache is not simulated",
        "export_type: only",
        "aic_metrics needs",
        "profile_memory must be True or False",
        "use_cuda has no effect",
        "needs a collection that has ended",
        "no profile is written to",
        "export_memory_timeline is not",
        "step() has no",
    ):
        assert said.count(text) == 1, text
    assert (tmp_path / "file").read_text() == "mine" and not (tmp_path / "early.json").exists()


def test_dynamic_profiles_are_refused_once_and_the_script_goes_on(capsys) -> None:
    from torch_npu.profiler import dynamic_profile

    dynamic_profile.init("folder")
    for _ in range(3):
        dynamic_profile.step()
    dynamic_profile.start()
    assert capsys.readouterr().err.count("dynamic_profile is not simulated") == 1


def test_a_profile_that_saw_no_operator_says_so(tmp_path: Path, capsys) -> None:
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))):
        torch.ones(3).sum()
    assert "no operator ran on the device in the profiled steps" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_figures_that_the_vendor_s_profiler_lacks_are_refused(capsys) -> None:
    prof = profiler.profile()
    with pytest.raises(AttributeError, match=r"has no key_averages, unlike torch\.profiler's: .*operator_details\.csv"):
        prof.key_averages()
    with pytest.raises(TypeError, match="unexpected keyword argument 'levle'"):
        profiler._ExperimentalConfig(levle=1)
    assert profiler.supported_activities() == set(BOTH)
