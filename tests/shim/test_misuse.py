"""Misuse, generated from the shim's tables: an exception of the real package's type or a warning that names the right form.

Nothing may take a minute, and nothing may end the interpreter. The number of cases is printed with the figures.
"""

from __future__ import annotations

import builtins
import csv
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tensorflow as tf
from npu_bridge import _log, _options

from benchmarks import broken_scripts
from npu_formats.session_options import Problem, problems, table, why_not, without_effect
from tests.shim.test_strictness import names_for_examples

REFUSALS = list(csv.DictReader((Path(_options.__file__).parent / "_refusals.csv").open(encoding="utf-8", newline="")))
LIMIT_SECONDS = 60


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {LIMIT_SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def names(graph, monkeypatch, tmp_path):
    from npu_bridge.estimator.npu import util

    for name in ("JOB_ID", "DEVICE_ID"):
        monkeypatch.setenv(name, "1")
    for name in ("CM_WORKER_SIZE", "TF_CONFIG", "RANK_ID"):  # taken back at the end, whatever a case writes
        monkeypatch.setenv(name, "0")
        monkeypatch.delenv(name)
    monkeypatch.setattr(util, "_values", {})
    found = names_for_examples()
    for line in IMPORTS:
        exec(line, found)
    return {**found, "folder": str(tmp_path), "eager": tf_eager, "__file__": __file__}


IMPORTS = (
    "from npu_bridge.estimator import npu_aicore_ops, npu_ops",
    "from npu_bridge.estimator.npu import npu_common, npu_config, npu_optimizer",
    "from npu_bridge.estimator.npu import npu_dynamic_rnn as rnn", "from npu_bridge.tbe import npu_cube_ops as cube",
    "from npu_bridge.experimental import file_constant", "from npu_bridge.npu_cpu import lru_cache, npu_cpu_ops",
    "from npu_bridge.helper import helper", "from npu_bridge.profiler import profiler",
)  # fmt: skip


def tf_eager():
    from tensorflow.python.eager import context

    return context.eager_mode()


@pytest.mark.parametrize("row", REFUSALS, ids=[f"{row['symbol']}-{i}" for i, row in enumerate(REFUSALS)])
def test_a_wrong_call_raises_what_the_real_package_raises(row, names):
    kind = getattr(builtins, row["error"])
    with pytest.raises(kind) as error:
        exec(row["call"], names)
    assert len(str(error.value)) > 8, "one clear message"


def options_given(name: str, field: str, value: object) -> tf.ConfigProto:
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    setattr(entry.parameter_map[name], field, value)
    return config


OTHER_FIELD = {"b": ("i", 1), "i": ("s", b"1"), "s": ("b", True)}


@pytest.fixture
def told(graph, capsys, tmp_path, monkeypatch) -> Callable[[tf.ConfigProto], str]:
    monkeypatch.chdir(tmp_path)  # where a profile goes that has no folder

    def run(config: tf.ConfigProto) -> str:
        _log._said.clear()
        with tf.Session(config=config) as session:
            assert session.run(tf.constant(1) + 1) == 2
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize("name", [name for name, option in table().items() if option.status != "unknown"])
def test_a_wrong_field_is_told_with_the_right_one(name, told):
    field, value = OTHER_FIELD[table()[name].field]
    assert f"{name!r} is written into .{field}; it belongs into .{table()[name].field}" in told(options_given(name, field, value))


@pytest.mark.parametrize("name", [name for name, option in table().items() if option.status == "unknown"])
def test_what_the_device_does_not_know_is_told(name, told):
    said = told(options_given(name, *OTHER_FIELD["s"]))
    assert f"there is no session option {name!r}" in said
    if table()[name].instead:
        assert f"did you mean {table()[name].instead!r}?" in said


OUTSIDE = {"words": b"no-such-word", "int": 1 << 40, "file": b"no/file", "folder": b"no/folder", "json": b"[", "like": b"?"}
LISTED = [name for name, option in table().items() if option.allowed not in ("", "bool")]


@pytest.mark.parametrize("name", LISTED)
def test_a_value_outside_the_list_is_told_with_the_list(name, told):
    option = table()[name]
    kind = option.allowed.partition(" ")[0]
    value = -5 if option.allowed.endswith("..") else OUTSIDE[kind]
    said = told(options_given(name, option.field, value))
    shown = value.decode() if isinstance(value, bytes) else value
    assert f"session option {name!r} is {shown!r}: {why_not(option, shown)}" in said and why_not(option, shown)


def test_how_many_misuses_there_are(record_property):
    n_fields = len(table())
    text = f"misuse: {n_fields} options with a wrong field or name, {len(LISTED)} with a wrong value, {len(REFUSALS)} wrong calls"
    record_property("figure", text)
    assert n_fields >= 117 and len(REFUSALS) > 150


PAIRS = [
    ({"precision_mode": ("s", "force_fp32"), "precision_mode_v2": ("s", "origin")}, "exclude each other"),
    ({"mix_compile_mode": ("b", True), "iterations_per_loop": ("i", 10)}, "exclude each other"),
    ({"enable_dump": ("b", True)}, "'enable_dump' needs dump_path"),
    ({"modify_mixlist": ("s", "pyproject.toml")}, "needs precision_mode or precision_mode_v2"),
    ({"dynamic_input": ("b", True)}, "'dynamic_input' is deprecated; instead: leave it out"),
    ({"auto_tune_mode": ("s", "GA")}, "of an older release; instead: aoe_mode"),
    ({"profilng_mode": ("b", True)}, "did you mean 'profiling_mode'?"),
    ({"colour": ("b", True)}, "there is no session option 'colour'"),
]


@pytest.mark.parametrize(("given", "text"), PAIRS)
def test_options_beside_each_other(given, text, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    assert any(text in problem.text for problem in problems(given)), list(problems(given))


@pytest.mark.parametrize(
    "given",
    [{}, {"mix_compile_mode": ("b", True), "iterations_per_loop": ("i", 1)}, {"precision_mode": ("s", "force_fp16")},
     {"enable_dump": ("b", False)}, {"dump_step": ("s", "0|3-5|10"), "hcom_parallel": ("b", True)}],
)  # fmt: skip
def test_right_options_are_not_talked_about(given):
    assert list(problems(given)) == []


def test_an_estimators_own_options_are_no_news(graph):
    from npu_bridge.estimator.npu.npu_config import NPURunConfig, add_npu_options

    entry = add_npu_options(NPURunConfig()).graph_options.rewrite_options.custom_optimizers[0]
    assert list(problems(_options.given(entry))) == [] and without_effect(_options.given(entry)) == {}
    asked = NPURunConfig(enable_data_pre_proc=False, dynamic_graph_execute_mode="lazy_recompile", work_path="no/such")
    entry = add_npu_options(asked).graph_options.rewrite_options.custom_optimizers[0]
    assert [p.option for p in problems(_options.given(entry))] == ["dynamic_graph_execute_mode"] * 2 + ["work_path"]


def test_every_allowed_value_is_allowed():
    for option in table().values():
        kind, _, rest = option.allowed.partition(" ")
        for value in rest.split("|") if kind == "words" or (kind == "int" and ".." not in rest) else ():
            assert why_not(option, int(value) if kind == "int" else value) == ""
        if kind == "like":
            assert re.compile(rest)
        assert not option.instead or option.status in ("unknown", "deprecated", "older")


def test_a_problem_says_whether_a_host_stops():
    assert next(problems({"precision_mode": ("s", "fp99")})).stops
    assert not next(problems({"hccl_timeout": ("i", -1)})).stops
    assert isinstance(next(problems({"x": ("b", True)})), Problem) and os.environ["RANK_SIZE"] == "1"


def test_the_benchmark_of_broken_scripts_reads_how_a_script_ended():
    assert broken_scripts.main([]) == broken_scripts.ABSENT == 77
    log = "Traceback (most recent call last):\n  File\nabsl.flags.Error: x\nValueError: shape: is wrong\nnpu_runtime: 1 session\n"
    assert broken_scripts.last_error(log) == "ValueError: shape: is wrong" and broken_scripts.last_error("fine") == ""
    assert len({(broken.folder, broken.script) for broken in broken_scripts.SCRIPTS}) == len(broken_scripts.SCRIPTS) == 11
