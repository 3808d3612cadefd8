"""Whole scripts under `tf2npu run --profile` and under a prediction, and scripts for CUDA that use torch.profiler."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.legs.torch.processes import environment, run
from tf2npu.profiles.reader import read_profile

TRAIN = """
import torch, torch_npu
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Dropout(0.1), torch.nn.Linear(8 * 36, 10)).npu()
optimizer = torch.optim.Adam(model.parameters())
for step in range(8):
    images, labels = torch.randn(4, 3, 8, 8).npu(), torch.randint(10, (4,)).npu()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
"""
GAN = """
import torch, torch_npu
one, two = torch.nn.Linear(4, 4).npu(), torch.nn.Linear(4, 1).npu()
first, second = torch.optim.SGD(one.parameters(), 0.1), torch.optim.SGD(two.parameters(), 0.1)
for step in range(3):
    two(one(torch.ones(2, 4).npu()).detach()).sum().backward()
    second.step()
    two(one(torch.ones(2, 4).npu())).sum().backward()
    first.step()
print(two(one(torch.ones(2, 4).npu())).sum().item())
"""
EVALUATION = """
import torch, torch_npu
from torch_npu._observers import profiled_steps
profiled_steps.MOST_CALLS = 50
with torch.no_grad():
    rows = torch.ones(4, 4).npu()
    for _ in range(120):
        rows = rows @ rows / 4
"""
BEGIN = "from torch_npu._observers import prediction, profiling; prediction.begin(); profiling.begin()\n"
"""Reads the variables of this program, as the import does where it is not done before the program."""
FOR_CUDA = """
import sys, torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
model, rows = torch.nn.Linear(8, 8).cuda(), torch.ones(4, 8).cuda()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=1, warmup=1, active=1),
             on_trace_ready=tensorboard_trace_handler(sys.argv[1]), record_shapes=True, acc_events=True,
             experimental_config=torch._C._profiler._ExperimentalConfig()) as prof:
    for _ in range(3):
        model(rows).sum().backward()
        prof.step()
from torch_npu._observers import switched
print(sorted({place.instead for place in switched.places() if "rofil" in place.says or "experimental" in place.says}))
"""


def profiled(source: str, folder: Path) -> list[Path]:
    """The profiles that a script leaves with the options that `tf2npu run --profile` sets."""
    asked = {"output": str(folder), "training_trace": "on", "task_trace": "on", "aicpu": "on", "hccl": "on"}
    options = json.dumps({"profiling_mode": True, "profiling_options": json.dumps(asked)})
    done = run(BEGIN + source, TF2NPU_OPTIONS=options)
    assert done.returncode == 0, done.stderr
    assert "Profiling: the profile is in" in done.stderr
    return sorted(folder.glob("PROF_*"))


def steps_of(profile: Path) -> list[dict[str, str]]:
    """The rows of step_trace by column."""
    (table,) = profile.glob("mindstudio_profiler_output/step_trace_*.csv")
    head, *rows = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()]
    return [dict(zip(head, row, strict=False)) for row in rows]


def test_the_profile_of_a_script_shows_the_time_that_its_prediction_says(tmp_path: Path):
    out = tmp_path / "prediction.json"
    asked = {"out": str(out), "socs": ["Ascend910A"], "steps": 3}
    done = run(BEGIN + TRAIN, TF2NPU_PREDICT=json.dumps(asked))
    assert done.returncode == 0, done.stderr
    (profile,) = profiled(TRAIN, tmp_path)
    predicted, shown = json.loads(out.read_text(encoding="utf-8")), read_profile(profile)
    assert shown.step_ms == pytest.approx(predicted["bounds_ms"][1], abs=5e-5)  # the gap between steps and two ticks
    assert shown.soc == predicted["soc"] and len(steps_of(profile)) == 8
    assert sorted(task.name for task in shown.tasks) == sorted(t["name"] for t in predicted["tasks"] if t["engine"] != "copy")


def test_two_optimizers_in_turn_make_one_step(tmp_path: Path):
    (profile,) = profiled(GAN, tmp_path)
    rows = steps_of(profile)
    assert [row["BP End(us)"] == "N/A" for row in rows] == [
        False,
        False,
        False,
        True,
    ]  # the last is what came behind the training


def test_a_script_that_only_evaluates_is_cut_into_parts(tmp_path: Path):
    (profile,) = profiled(EVALUATION, tmp_path)
    assert len(steps_of(profile)) == 5  # 241 calls, 50 each


def test_each_device_of_a_script_has_a_profile(tmp_path: Path):
    source = "import torch, torch_npu\nfor index in range(2): torch.ones(3, device=f'npu:{index}').mul(2)"
    assert len(profiled(source, tmp_path)) == 2


def test_a_script_that_leaves_the_device_alone_leaves_no_profile(tmp_path: Path):
    done = run(BEGIN + "import torch; torch.ones(3)", PROFILING_MODE="true", PROFILING_OPTIONS=f'{{"output": "{tmp_path}"}}')
    assert done.returncode == 0 and "nothing ran on the device, so no profile is written" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_options_that_cannot_be_read_are_told_and_the_script_goes_on():
    done = run(BEGIN + "print('done')", PROFILING_MODE="true", PROFILING_OPTIONS="{wrong")
    assert (done.returncode, done.stdout) == (0, "done\n") and "PROFILING_OPTIONS: no JSON text" in done.stderr


def test_a_script_for_cuda_gets_the_profile_of_the_npu_and_the_command_one_of_all(tmp_path: Path):
    (tmp_path / "train.py").write_text(FOR_CUDA, encoding="utf-8")
    words = [sys.executable, "-m", "tf2npu", "run", "--profile", "whole", "train.py", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("whole/PROF_*/mindstudio_profiler_output/op_summary_*.csv"))) == 1
    assert "have no effect" not in done.stderr
    assert len(list(tmp_path.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"))) == 1
    assert (
        "torch_npu.profiler.ProfilerActivity.NPU" in done.stdout and "torch_npu.profiler._ExperimentalConfig(...)" in done.stdout
    )
