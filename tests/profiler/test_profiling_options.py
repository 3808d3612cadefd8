"""The options of profiling as users write them: the textbook's listings, every key, and what is wrong with some."""

from __future__ import annotations

import json

import pytest

from npu_runtime.observers.profiler.settings import ProfilingOptions, read_options

LISTING_5_55 = """{"output":"/tmp/profiling","training_trace":"on","task_trace":"on",
"fp_point":"resnet_model/conv2d/Conv2Dresnet_model/batch_normalization/FusedBatchNormV3_Reduce",
"bp_point":"gradients/AddN_70"}"""
"""As a JSON value whose line ends stand between members, where JSON allows them."""
WRAPPED = '{"output": "/tmp/profiling", "fp_point": "resnet_model/conv2d/Conv2Dresnet_model/batch_normali\n  zation/Reduce"}'
"""A name that the printed page breaks."""


def test_the_textbook_s_listing():
    read = read_options(LISTING_5_55)
    assert read.warnings == ()
    assert read.options == ProfilingOptions(
        output="/tmp/profiling",
        training_trace=True,
        fp_point="resnet_model/conv2d/Conv2Dresnet_model/batch_normalization/FusedBatchNormV3_Reduce",
        bp_point="gradients/AddN_70",
    )


def test_a_name_broken_over_lines_is_joined_and_said():
    read = read_options(WRAPPED)
    assert read.options is not None
    assert read.options.fp_point == "resnet_model/conv2d/Conv2Dresnet_model/batch_normalization/Reduce"
    (warning,) = read.warnings
    assert "fp_point" in warning and "taken out" in warning


def test_a_key_broken_over_lines_is_joined_and_said():
    read = read_options('{"training_tr\nace": "on"}')
    assert read.options is not None and read.options.training_trace
    assert "training_trace" in read.warnings[0]


def test_a_text_with_the_shell_s_line_ends_is_joined_and_said():
    read = read_options('{"training_trace": "on", \\\n "task_trace": "off"}')
    assert read.options == ProfilingOptions(training_trace=True, task_trace="off")
    assert "one line" in read.warnings[0]


@pytest.mark.parametrize("text", [None, "", "  ", "{}"])
def test_nothing_means_the_defaults(text):
    assert read_options(text).options == ProfilingOptions() and read_options(text).warnings == ()


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"training_trace": "on"}, "training_trace", True),
        ({"task_trace": "off"}, "task_trace", "off"),
        ({"task_trace": "on"}, "task_trace", "l1"),
        ({"task_time": "l0"}, "task_trace", "l0"),
        ({"aicpu": "on"}, "aicpu", True),
        ({"hccl": "on"}, "hccl", True),
        ({"fp_point": ""}, "fp_point", ""),
        ({"aic_metrics": "MemoryUB"}, "aic_metrics", "MemoryUB"),
        ({"storage_limit": "200MB"}, "storage_limit_mb", 200),
        ({"output": "/a b"}, "output", "/a b"),
    ],
)
def test_each_key(given, field, value):
    read = read_options(json.dumps(given))
    assert getattr(read.options, field) == value and read.warnings == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"training_trace": True}, ["training_trace", "on"]),
        ({"task_trace": "l7"}, ["task_trace", "l7", "l0"]),
        ({"aic_metrics": "Pipe"}, ["aic_metrics", "PipeUtilization"]),
        ({"storage_limit": "10MB"}, ["storage_limit", "200MB"]),
        ({"storage_limit": 500}, ["storage_limit", "200MB"]),
        ({"fp_point": 3}, ["fp_point", "text"]),
        ({"traning_trace": "on"}, ["traning_trace", "training_trace"]),
        ({"l2": "on"}, ["l2", "not simulated"]),
        ({"task_trace": ["on"]}, ["task_trace"]),
    ],
)
def test_what_is_wrong_is_said_and_left_at_its_default(given, words):
    read = read_options(json.dumps(given), "PROFILING_OPTIONS")
    assert read.options == ProfilingOptions()
    (warning,) = read.warnings
    assert warning.startswith("PROFILING_OPTIONS: ") and all(word in warning for word in words)


@pytest.mark.parametrize("text", ["{", "output=/tmp", "[1]", '"on"', '{"output": }'])
def test_a_text_that_is_no_object_profiles_nothing(text):
    read = read_options(text)
    (warning,) = read.warnings
    assert read.options is None and "othing is profiled" in warning and "training_trace" in warning


@pytest.mark.parametrize(
    "text",
    ['{"aic_metrics": {}}', '{"aic_metrics": ["Memory"]}',
     '{"storage_limit": "' + "9" * 5000 + 'MB"}', '{"a": ' + "9" * 5000 + "}",
     "[" * 100_000, '{"a": "' + "\n[" * 100_000],
)  # fmt: skip
def test_what_types_of_python_cannot_hold_is_told(text):
    read = read_options(text)
    assert read.warnings and all("\n" not in line for line in read.warnings)
