"""The three ways to switch profiling on, as the textbook's listings 5-55 to 5-57 do, and a Profiler block."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_runtime.observers.profiler.request import of_block, requested

OPTIONS = '{"output": "/out", "task_trace": "on"}'


def test_a_session_option_asks():
    request, warnings = requested({"profiling_mode": True, "profiling_options": OPTIONS.encode()}, {})
    assert request is not None and warnings == ()
    assert request.output == Path("/out") and not request.make


def test_the_environment_asks_and_its_output_is_made():
    request, warnings = requested({}, {"PROFILING_MODE": "true", "PROFILING_OPTIONS": OPTIONS})
    assert request is not None and request.output == Path("/out") and request.make and warnings == ()


def test_the_session_s_option_wins():
    environment = {"PROFILING_MODE": "true", "PROFILING_OPTIONS": '{"output": "/other"}'}
    request, _ = requested({"profiling_mode": True, "profiling_options": OPTIONS}, environment)
    assert request is not None and request.output == Path("/out")


@pytest.mark.parametrize(
    ("parameters", "environment"),
    [({}, {}), ({"profiling_mode": False}, {}), ({}, {"PROFILING_MODE": "false"}), ({}, {"PROFILING_OPTIONS": OPTIONS})],
)
def test_nobody_asks(parameters, environment):
    assert requested(parameters, environment) == (None, ())


def test_what_has_no_output_goes_to_the_work_path_or_the_current_folder():
    for environment, folder in (({"ASCEND_WORK_PATH": "/work path"}, "/work path"), ({}, ".")):
        request, _ = requested({"profiling_mode": True, "profiling_options": "{}"}, environment)
        assert request is not None and request.output == Path(folder)


def test_options_that_cannot_be_read_ask_for_nothing_and_say_so():
    request, warnings = requested({}, {"PROFILING_MODE": "true", "PROFILING_OPTIONS": "{output:"})
    assert request is None and warnings[0].startswith("PROFILING_OPTIONS: ")


@pytest.mark.parametrize(("level", "task_trace"), [("L0", "l0"), ("L1", "l1"), ("L2", "l1")])
def test_a_block_collects_by_its_level(level: str, task_trace: str):
    request = of_block(level, "", "/out", {})
    assert (request.options.task_trace, request.options.aic_metrics) == (task_trace, "PipeUtilization")
    assert request.output == Path("/out")
