"""Scripts that have their runs profiled, in each of the ways that there are, and what the files say of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.profiler import reader
from tests.profiler.perfetto import opened
from tests.shim.conftest import plain_environment

MODEL = """
    from npu_bridge.npu_init import *
    import tensorflow as tf, numpy as np
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
    OPTIONS = {options!r}
    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
    hidden = tf.layers.dense(x, 48, tf.nn.relu, name="first")
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 10, name="second"))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    config = tf.ConfigProto()
    custom = config.graph_options.rewrite_options.custom_optimizers.add()
    custom.name = "NpuOptimizer"
"""
STEPS = """
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            value, _ = session.run([loss, train], {x: np.ones([32, 64]), y: np.zeros([32], int)})
    print("loss", value)
"""
IN_SESSION = """
    custom.parameter_map["profiling_mode"].b = True
    custom.parameter_map["profiling_options"].s = tf.compat.as_bytes(OPTIONS)
"""
ALL = {"training_trace": "on", "task_trace": "on", "aicpu": "on"}


def _options(folder: Path, **keys: str) -> str:
    folder.mkdir(exist_ok=True)
    return json.dumps({"output": str(folder), **ALL, **keys})


def _check_steps(profile: reader.Profile, n_steps: int) -> list[dict[str, str]]:
    """The steps of the training model, which is the one with passes; all files read strictly."""
    reader.check_tables(profile)
    reader.check_summary(profile, "PipeUtilization")
    reader.check_steps(profile)
    reader.check_timeline(profile.events())
    reader.check_raw(profile, 0)
    steps = [row for row in profile.table("step_trace") if row["FP Start(us)"] != "N/A"]
    assert [row["Iteration ID"] for row in steps] == [str(n + 1) for n in range(n_steps)]
    return steps


def _only(folder: Path) -> reader.Profile:
    (made,) = folder.iterdir()
    return reader.Profile(made)


def test_the_session_option_profiles_every_step(fresh, tmp_path):
    done = fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + STEPS)
    profile = _only(tmp_path / "out")
    assert f"the profile is in {profile.folder}" in done.stderr
    _check_steps(profile, 3)
    types = {row["OP Type"] for row in profile.table("op_summary")}
    assert {"MatMulV2", "ApplyAdam"} <= types
    models = {row["Model ID"]: row for row in profile.table("step_trace")}
    assert len(models) == 2 and models["1"]["BP End(us)"] == "N/A"  # the initializer has no passes


def test_the_environment_profiles_and_makes_the_folder(fresh, tmp_path):
    options = json.dumps({"output": str(tmp_path / "new"), **ALL})
    fresh(MODEL.format(options="") + STEPS, PROFILING_MODE="true", PROFILING_OPTIONS=options)
    _check_steps(_only(tmp_path / "new"), 3)


def test_an_estimators_configuration_profiles(fresh, tmp_path):
    """Listing 5-55 of the textbook: ProfilingConfig in NPURunConfig."""
    source = f"""
        from npu_bridge.npu_init import *
        import tensorflow as tf, numpy as np
        options = {_options(tmp_path / "out")!r}
        def inputs():
            data = np.ones([64, 16], np.float32), np.zeros([64], np.int32)
            return tf.data.Dataset.from_tensor_slices(data).repeat().batch(16, drop_remainder=True)
        def model(features, labels, mode):
            loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(features, 4))
            train = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
            return NPUEstimatorSpec(mode, loss=loss, train_op=train)
        profiling = ProfilingConfig(enable_profiling=True, profiling_options=options)
        config = NPURunConfig(model_dir={str(tmp_path / "model")!r}, profiling_config=profiling, save_checkpoints_steps=100)
        NPUEstimator(model, config=config).train(inputs, steps=4)
    """
    fresh(source)
    (profile,) = (tmp_path / "out").iterdir()
    rows = [row for row in reader.Profile(profile).table("step_trace") if row["FP Start(us)"] != "N/A"]
    assert len(rows) == 4


def test_a_block_profiles_what_runs_inside_of_it(fresh, tmp_path):
    inside = """
    from npu_bridge.profiler.profiler import Profiler
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        feeds = {x: np.ones([32, 64]), y: np.zeros([32], int)}
        session.run(train, feeds)
        with Profiler(level="L1", output_path=OPTIONS):
            session.run(train, feeds), session.run(train, feeds)
        session.run(train, feeds)
    """
    fresh(MODEL.format(options=str(tmp_path / "out")) + inside)
    _check_steps(_only(tmp_path / "out"), 2)


def test_two_runs_have_the_same_device_times(fresh, tmp_path):
    tables = []
    for name in ("one", "two"):
        fresh(MODEL.format(options=_options(tmp_path / name)) + IN_SESSION + STEPS)
        tables.append(_only(tmp_path / name).table("op_summary"))
    durations = [[(row["Op Name"], row["Task Duration(us)"], row["Task Wait Time(us)"]) for row in rows] for rows in tables]
    assert durations[0] == durations[1] and len(durations[0]) > 30


def test_without_profiling_not_a_byte_is_written(fresh, tmp_path):
    fresh(f"import os; os.chdir({str(tmp_path)!r})\n" + __import__("textwrap").dedent(MODEL.format(options="") + STEPS))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fp_point": "frist/MatMul"}, ["frist/MatMul", "first/MatMul"]),
        ({"task_trace": "yes"}, ["task_trace"]),
        ({"unknown_key": "on"}, ["unknown_key"]),
    ],
)
def test_a_wrong_option_is_told_in_one_line_and_training_goes_on(fresh, tmp_path, options, told):
    done = fresh(MODEL.format(options=_options(tmp_path / "out", **options)) + IN_SESSION + STEPS)
    assert "loss" in done.stdout
    assert any(all(word in line for word in told) for line in done.stderr.splitlines()), done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_that_is_missing_is_told_and_training_goes_on(fresh, tmp_path):
    options = json.dumps({"output": str(tmp_path / "missing"), **ALL})
    done = fresh(MODEL.format(options=options) + IN_SESSION + STEPS)
    assert "loss" in done.stdout and "Traceback" not in done.stderr
    assert any(str(tmp_path / "missing") in line and "no profile" in line for line in done.stderr.splitlines())


def test_options_that_are_broken_over_lines_are_read_with_a_warning(fresh, tmp_path):
    text = _options(tmp_path / "out", fp_point="first/MatMul")
    broken = text.replace("first/MatMul", "first/Mat\n    Mul")
    done = fresh(MODEL.format(options=broken) + IN_SESSION + STEPS)
    _check_steps(_only(tmp_path / "out"), 3)
    assert any("fp_point" in line for line in done.stderr.splitlines())


RECURRENT = """
    x, n_turns = tf.placeholder(tf.float32, [16, 32]), tf.placeholder(tf.int32, [])
    w = tf.get_variable("w", [32, 32])
    _, last = tf.while_loop(lambda i, h: i < n_turns, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x])
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(last**2))
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for turns in (5, 7, 0):
            session.run(train, {x: np.ones([16, 32]), n_turns: turns})
"""


def test_a_loop_has_its_tasks_once_a_turn(fresh, tmp_path):
    fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + RECURRENT)
    profile = _only(tmp_path / "out")
    steps = _check_steps(profile, 3)
    summary = [row for row in profile.table("op_summary") if row["Model ID"] == "2"]
    products = [row for row in summary if row["Op Name"].startswith("while/MatMul")]
    assert len(products) == 5 + 7
    for step, n_turns in zip(steps, (5, 7, 0), strict=True):
        begin, end = reader.us(step["FP Start(us)"]), reader.us(step["BP End(us)"])
        assert sum(begin <= reader.us(row["Task Start Time(us)"]) < end for row in products) == n_turns
    numbered = {(row["Stream ID"], row["Task ID"], row["Op Name"]) for row in summary}
    assert len(numbered) == len({(stream, number) for stream, number, _ in numbered})


def test_memory_has_the_names_and_the_sizes_of_results(fresh, tmp_path):
    fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + STEPS)
    profile = _only(tmp_path / "out")
    names = {(row["Model ID"], row["Op Name"]) for row in profile.table("op_summary")}
    rows = [row for row in profile.table("static_op_mem") if row["Graph ID"] == "2"]
    *buffers, total = rows
    assert total["Op Name"] == "TOTAL"
    assert {("2", row["Op Name"]) for row in buffers} <= names
    spans = [(int(row["Node Index Start"]), int(row["Node Index End"]), float(row["Size(KB)"])) for row in buffers]
    alive = [sum(size for begin, end, size in spans if begin <= at <= end) for at in range(int(total["Node Index End"]) + 1)]
    assert float(total["Size(KB)"]) == pytest.approx(max(alive), abs=0.001 * len(buffers))
    hidden = [row for row in buffers if row["Op Name"].startswith("first/MatMul")]
    assert hidden and float(hidden[0]["Size(KB)"]) in (32 * 48 * 2 / 1024, 32 * 48 * 4 / 1024)  # half or single precision


def test_perfetto_finds_the_iterations_of_a_run(fresh, tmp_path):
    fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + STEPS)
    (tmp_path / "page").mkdir()
    profile = _only(tmp_path / "out")
    (timeline,) = profile.exported.glob("msprof_*.json")
    with opened(timeline, tmp_path / "page") as trace:
        assert trace.errors() == []
        sql = "select s.name from slice s join thread_track t on s.track_id = t.id join thread using (utid)"
        rows = trace.query(f"{sql} where s.name glob 'Iteration [0-9]*' and thread.name glob '*2*' order by s.ts")
    assert [name for (name,) in rows] == ["Iteration 1", "Iteration 2", "Iteration 3"]


def test_split_cores_have_no_raw_part_and_say_why(fresh, tmp_path):
    chip = """
    custom.parameter_map["soc"].s = tf.compat.as_bytes("Ascend910B2")
    """
    done = fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + chip + STEPS)
    profile = _only(tmp_path / "out")
    assert [path.name for path in profile.folder.iterdir()] == ["mindstudio_profiler_output"]
    assert any("Ascend910B2" in line and "raw records" in line for line in done.stderr.splitlines())
    assert "aiv_time(us)" in profile.columns("op_summary")


def test_two_sessions_in_two_threads_share_a_profile(fresh, tmp_path):
    threads = """
    import threading
    def work():
        with tf.Session(config=config, graph=graph) as session:
            session.run(init)
            for _ in range(3):
                session.run(train, {x: np.ones([32, 64]), y: np.zeros([32], int)})
    init, graph = tf.global_variables_initializer(), tf.get_default_graph()
    started = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in started], [thread.join() for thread in started]
    """
    fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + threads)
    profile = _only(tmp_path / "out")
    reader.check_tables(profile)
    reader.check_timeline(profile.events())
    reader.check_raw(profile, 0)
    rows = [row for row in profile.table("step_trace") if row["FP Start(us)"] != "N/A"]
    assert sorted((row["Model ID"], row["Iteration ID"]) for row in rows) == sorted(
        (model, number) for model in {row["Model ID"] for row in rows} for number in "123"
    )
    assert len(rows) == 6


def test_a_step_that_fails_is_no_step_and_the_others_are_written(fresh, tmp_path):
    failing = """
    checked = tf.debugging.assert_less(tf.reduce_max(x), 5.0)
    with tf.control_dependencies([checked]):
        guarded = tf.identity(loss)
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for limit in (1.0, 9.0, 1.0):
            try:
                session.run([guarded, train], {x: limit * np.ones([32, 64]), y: np.zeros([32], int)})
            except tf.errors.InvalidArgumentError:
                print("failed")
    """
    done = fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + failing)
    assert done.stdout.count("failed") == 1
    _check_steps(_only(tmp_path / "out"), 2)


def _ended(source: str, *, stop: int | None = None) -> subprocess.CompletedProcess:
    """A script that ends in its own way. stop: signal that it gets when it has printed its loss."""
    words = [sys.executable, "-c", textwrap.dedent(source)]
    process = subprocess.Popen(words, env=plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    printed = ""
    if stop is not None:
        assert process.stdout is not None
        printed = process.stdout.readline()
        process.send_signal(stop)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, printed + out, err)


@pytest.mark.whole
@pytest.mark.parametrize("end", ["import sys; sys.exit(3)", "raise ValueError('over')"])
def test_a_script_that_ends_early_leaves_its_profile(tmp_path, end):
    done = _ended(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + STEPS + f"    {end}\n")
    assert done.returncode in (1, 3) and "loss" in done.stdout
    _check_steps(_only(tmp_path / "out"), 3)


@pytest.mark.whole(but=("9",))
@pytest.mark.parametrize("stop", [None, signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_is_stopped_leaves_nothing_that_looks_whole(tmp_path, stop):
    end = "    import os, sys, time\n    sys.stdout.flush()\n" + ("    os._exit(0)\n" if stop is None else "    time.sleep(60)\n")
    done = _ended(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + STEPS + end, stop=stop)
    assert "loss" in done.stdout and done.returncode == (0 if stop is None else -stop)
    assert list((tmp_path / "out").glob("PROF_*")) == []


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("fork", ["multiprocessing", "os.fork"])
def test_forked_processes_leave_the_parents_profile_to_it(fresh, tmp_path, fork):
    """Some do nothing, and one runs a session of its own, which has a profile of its own."""
    forked = """
    import multiprocessing, os, sys
    def nothing():
        pass
    def train_too():
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            session.run(train, {x: np.ones([32, 64]), y: np.zeros([32], int)})
    def in_child(work):
        if FORK == "os.fork":
            child = os.fork()
            if child == 0:
                work()
                sys.exit()
            os.waitpid(child, 0)
        else:
            process = multiprocessing.get_context("fork").Process(target=work)
            process.start(), process.join()
    in_child(nothing), in_child(train_too)
    """
    source = MODEL.format(options=_options(tmp_path / "out")) + f"    FORK = {fork!r}\n" + IN_SESSION + STEPS + forked
    fresh(source)
    profiles = [reader.Profile(folder) for folder in (tmp_path / "out").iterdir()]
    steps = [[row for row in profile.table("step_trace") if row["FP Start(us)"] != "N/A"] for profile in profiles]
    assert sorted(map(len, steps)) == [1, 3]


def test_what_is_fetched_stays_in_memory_to_the_end_of_the_step(fresh, tmp_path):
    """The hidden layer is read by the next one and by a gradient, and by the host when the step is over."""
    steps = STEPS.replace("value, _ = session.run([loss, train],", "value, _, _ = session.run([loss, hidden, train],")
    fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + steps)
    profile = _only(tmp_path / "out")
    last = max(int(row["Task ID"]) for row in profile.table("op_summary") if row["Model ID"] == "2")
    rows = [row for row in profile.table("static_op_mem") if row["Graph ID"] == "2" and "first/Relu" in row["Op Name"]]
    assert str(last) in [row["Node Index End"] for row in rows if row["Op Name"].startswith("first/MatMul")]


def test_a_script_that_goes_elsewhere_has_its_profile_where_it_asked_for_it(fresh, tmp_path):
    (tmp_path / "other").mkdir()
    begin = f"import os\nos.chdir({str(tmp_path)!r})\n"
    source = textwrap.dedent(MODEL.format(options=json.dumps(ALL))) + textwrap.dedent(IN_SESSION) + textwrap.dedent(STEPS)
    done = fresh(begin + source + "os.chdir('other')\n")
    (profile,) = tmp_path.glob("PROF_*")
    assert f"the profile is in {profile}\n" in done.stderr and not list((tmp_path / "other").iterdir())
