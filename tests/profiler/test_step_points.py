"""fp_point and bp_point: by a node's name, by a fused operator's, or found; and names that no graph has."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from tests.profiler import runs
from tests.profiler.reader import Profile, check_steps, check_timeline

FUSED = "conv2/Conv2Dconv2/BiasAddconv2/Relu"


def steps_of(folder: Path, **options: str) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    written = write_profile(runs.lenet_run(3), ProfilingOptions(training_trace=True, **options), folder, 10**18)
    profile = Profile(written.folder)
    check_steps(profile)
    check_timeline(profile.events())
    return profile.table("step_trace"), written.warnings


def starts_of(folder: Path, name: str) -> list[str]:
    (profile,) = (Profile(path) for path in folder.iterdir())
    return [row["task_start(us)"] for row in profile.table("task_time") if row["kernel_name"] == name]


@pytest.mark.parametrize("point", [FUSED, "conv2/BiasAdd"])
def test_a_task_and_a_node_inside_it_are_the_same_point(point: str, tmp_path: Path):
    rows, warnings = steps_of(tmp_path, fp_point=point)
    assert warnings == ()
    assert [row["FP Start(us)"] for row in rows] == starts_of(tmp_path, FUSED)


def test_the_backward_pass_ends_with_a_named_node(tmp_path: Path):
    rows, warnings = steps_of(tmp_path, bp_point="gradients/conv2/Conv2DBackpropFilter")
    (profile,) = (Profile(path) for path in tmp_path.iterdir())
    ends = [row["task_stop(us)"] for row in profile.table("task_time") if row["kernel_name"].startswith("gradients/conv2")]
    assert warnings == () and [row["BP End(us)"] for row in rows] == ends


def test_an_unknown_name_is_said_with_what_is_near_and_the_found_point_is_used(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    found, _ = steps_of(tmp_path / "a")
    rows, warnings = steps_of(tmp_path / "b", fp_point="conv1/Conv2d")
    assert rows == found
    (warning,) = warnings
    assert "fp_point" in warning and "'conv1/Conv2d'" in warning and "conv1/Conv2D" in warning.split("Near it are")[1]


def test_points_in_the_wrong_order_are_said(tmp_path: Path):
    rows, warnings = steps_of(tmp_path, fp_point="loss/Softmax", bp_point="conv1/Conv2D")
    (warning,) = warnings
    assert "loss/Softmax" in warning and "conv1/Conv2D" in warning
    assert all(row["FP Start(us)"] != "N/A" and row["BP End(us)"] != "N/A" for row in rows)
