"""The reference of a comparison holds what TensorFlow computed in each step of each graph of an unconverted script."""

from __future__ import annotations

import csv
import json
import textwrap
from pathlib import Path

import numpy as np
import pytest

from npu_formats.environment import TF2NPU_REFERENCE
from tests import fork_server
from tests.shim.conftest import plain_environment


@pytest.fixture
def record(tmp_path):
    """Runs a script as the command's process does; returns what it noted, by graph number, and its folder."""

    def run(source: str, steps: list | None = None) -> tuple[dict[int, dict], Path]:
        out, script = tmp_path / "out", tmp_path / "script.py"
        (out / "scratch").mkdir(parents=True)
        script.write_text(textwrap.dedent(source))
        asked = {"out": str(out), "scratch": str(out / "scratch"), "steps": steps}
        variables = {**plain_environment(), TF2NPU_REFERENCE: json.dumps(asked), "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = fork_server.tf2npu(["run", script], variables, tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
        (tmp_path / "said").write_text(done.stderr)
        ran = json.loads((out / "scratch" / "graphs.json").read_text())
        assert [path.name for path in (out / "scratch").iterdir()] == ["graphs.json"]
        return {graph["number"]: graph for graph in ran["graphs"]}, out / "other"

    return run


def tensors(folder: Path) -> dict[str, list[np.ndarray]]:
    """By op and output, in the order of their timestamps."""
    found: dict[str, list[np.ndarray]] = {}
    for path in sorted(folder.glob("*.npy"), key=lambda path: path.name.rsplit(".", 2)[-2]):
        name, output, timestamp, _ = path.name.rsplit(".", 3)
        assert len(timestamp) == 16
        found.setdefault(f"{name}.{output}", []).append(np.load(path, allow_pickle=False))
    return found


SESSION = """
    import numpy as np
    import tensorflow as tf
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [None, 3], name="in/x")
    scale = tf.constant(2.0, name="scale")
    hidden = tf.layers.dense(x, 4, activation=tf.nn.relu, name="fc1")
    before = tf.get_default_graph().get_tensor_by_name("fc1/BiasAdd:0")
    text = tf.as_string(tf.shape(x), name="text")
    half = tf.cast(hidden, tf.bfloat16, name="half")
    loss = tf.multiply(tf.reduce_mean(tf.square(hidden)), scale, name="loss")
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(4):
            got = session.run([train, before, hidden, loss, text, half], {x: np.full([2, 3], step + 1.0), scale: step + 5.0})
            np.savez(f"step{step}.npz", before=got[1], hidden=got[2], loss=got[3], half=np.float32(got[5]))
        session.run(loss, {x: np.ones([5, 3])})
"""


def test_steps_of_a_session_hold_what_it_fetched(record, tmp_path):
    graphs, folder = record(SESSION, [[0, 0], [2, 9]])
    assert [(g["is_training"], g["runs"], g["steps"]) for g in graphs.values()] == [
        (False, 1, [0]), (True, 4, [0, 2, 3]), (False, 1, [0])
    ]  # fmt: skip
    assert sorted(graphs[2]["feeds"]) == ["in/x:0", "scale:0"]
    assert graphs[2]["left_out"]["strings"] == 3
    for step in (0, 2, 3):
        found, fetched = tensors(folder / "2" / str(step)), np.load(tmp_path / f"step{step}.npz")
        for name, key in (("fc1_BiasAdd", "before"), ("fc1_Relu", "hidden"), ("loss", "loss"), ("half", "half")):
            (array,) = found[f"{name}.0"]
            np.testing.assert_array_equal(array, fetched[key], name)
        np.testing.assert_array_equal(found["in_x.0"][0], np.full([2, 3], step + 1.0, np.float32))
        np.testing.assert_array_equal(found["scale.0"], [step + 5.0])
        assert {"fc1_MatMul.0", "gradients_fc1_Relu_grad_ReluGrad.0", "fc1_kernel_read.0"} <= set(found)
        assert not [name for name in found if name.startswith(("_", "text"))]
        assert not (folder / "2" / str(step) / "mapping.csv").exists()


LOOP = """
    import tensorflow as tf
    with tf.name_scope("n" * 200):
        with tf.name_scope("m" * 100):
            start = tf.constant([1.0, 2.0], name="start")
    count, total = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.multiply(a, 2.0, name="twice")), [0, start])
    with tf.Session() as session:
        print(session.run(total))
"""


def test_turns_of_a_loop_and_long_names(record):
    _, folder = record(LOOP)
    found = tensors_with_mapping(folder / "1" / "0")
    np.testing.assert_array_equal(found["while_twice.0"], [[2, 4], [4, 8], [8, 16], [16, 32]])
    np.testing.assert_array_equal(found["while_Less.0"], [True] * 4 + [False])
    np.testing.assert_array_equal(found["n" * 200 + "_" + "m" * 100 + "_start.0"], [[1, 2]])


TOO_LONG = """
    import numpy as np
    import tensorflow as tf
    x, fed = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.float32, [2], name="in/" + "f" * 240)
    folded = tf.sin(x, name="d" * 256 + "/end")
    ending = tf.cos(folded + fed, name="begin/" + "e" * 240)
    fits = tf.exp(ending, name="b" * 222)

    @tf.function
    def called(value):
        return tf.tanh(value, name="g" * 240)

    with tf.Session() as session:
        values = {x: np.ones(2), fed: np.ones(2)}
        session.run(tf.identity(fits, name="last"), values)
        print(session.run(called(tf.constant([1.0], name="one"))))
        print("end")
"""


def test_names_that_the_debugger_can_make_no_file_of_are_left_out(record, tmp_path):
    graphs, folder = record(TOO_LONG)
    ((reason, count),) = graphs[1]["left_out"].items()
    assert "too long" in reason and count == 3  # and what is fed is one of them
    found = tensors(folder / "1" / "0")
    assert sorted(found) == sorted(["x.0", "add.0", "b" * 222 + ".0", "last.0"])
    assert "one.0" in tensors(folder / "2" / "0")
    assert "graph 2 has a name that is too long" in (tmp_path / "said").read_text()


def tensors_with_mapping(folder: Path) -> dict[str, list[np.ndarray]]:
    """As `tensors`, long names by mapping.csv as the comparison program reads it: `digits.npy,full name.npy`."""
    with (folder / "mapping.csv").open() as stream:
        for short, name in csv.reader(stream):
            assert short.removesuffix(".npy").isdecimal() and len(name) >= 255
            found = {name.rsplit(".", 2)[0].rsplit(".", 1)[0] + ".0": [np.load(folder / short)]}
            (folder / short).unlink()
    return {**tensors(folder), **found}


ESTIMATOR = """
    import numpy as np
    import tensorflow as tf

    def model(features, labels, mode):
        logits = tf.layers.dense(features, 2, name="logits")
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def data():
        x = np.arange(24, dtype=np.float32).reshape(8, 3)
        return tf.data.Dataset.from_tensor_slices((x, np.arange(8) % 2)).batch(2)

    estimator = tf.estimator.Estimator(model, "model")
    estimator.train(data, steps=4)
    estimator.evaluate(data)
"""


def test_an_estimator(record):
    graphs, folder = record(ESTIMATOR)
    training = [graph for graph in graphs.values() if graph["is_training"]]
    assert sum(graph["runs"] for graph in training) == 4
    most = max(training, key=lambda graph: graph["runs"])
    for step in most["steps"]:
        found = tensors(folder / str(most["number"]) / str(step))
        (x,), (kernel,), (bias,) = (found[name] for name in ("IteratorGetNext.0", "logits_MatMul_ReadVariableOp.0"
                                                             if "logits_MatMul_ReadVariableOp.0" in found
                                                             else "logits_kernel_read.0", "logits_MatMul.0"))  # fmt: skip
        np.testing.assert_allclose(bias, x @ kernel, rtol=1e-5)
        assert x.shape == (2, 3)


KERAS = """
    import numpy as np
    import tensorflow as tf
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu", input_shape=(3,), name="one"),
                                 tf.keras.layers.Dense(1, name="two")])
    model.compile("adam", "mse")
    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    model.fit(x, x.sum(1, keepdims=True), batch_size=2, epochs=1, shuffle=False, verbose=0)
    model.evaluate(x, x.sum(1, keepdims=True), batch_size=4, verbose=0)
"""


def test_keras_in_graph_mode(record):
    graphs, folder = record(KERAS)
    (training,) = [graph for graph in graphs.values() if graph["is_training"]]
    assert training["runs"] == 4 and training["steps"] == [0, 1, 2, 3]
    for step in training["steps"]:
        found = tensors(folder / str(training["number"]) / str(step))
        x = np.arange(24, dtype=np.float32).reshape(8, 3)[2 * step : 2 * step + 2]
        np.testing.assert_array_equal(found["one_input.0"][0], x)
        np.testing.assert_allclose(found["one_MatMul.0"][0], x @ found["one_MatMul_ReadVariableOp.0"][0], rtol=1e-5)
    assert any(graph["runs"] == 2 and not graph["is_training"] for graph in graphs.values())


OTHERS = """
    import threading
    import numpy as np
    import tensorflow as tf
    queue = tf.FIFOQueue(2, tf.float32, [[]])
    put = queue.enqueue(tf.random_uniform([]))
    runner = tf.train.QueueRunner(queue, [put] * 2)
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer(), use_resource=True)
    moved = tf.assign_sub(weight, queue.dequeue())
    single = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, start=True)
        for _ in range(6):
            session.run(moved)
        coordinator.request_stop()
        coordinator.join(threads)
        made = session.make_callable(weight * 2, [])
        for _ in range(2):
            made()
        try:
            while True:
                session.run(single)
        except tf.errors.OutOfRangeError:
            print("end")
"""


def test_queues_callables_and_the_end_of_the_data(record):
    graphs, _ = record(OTHERS)
    (training,) = [graph for graph in graphs.values() if graph["is_training"]]
    assert training["runs"] == 6  # by adding to a trainable variable
    by_fetch = {name: graph["steps"] for graph in graphs.values() for name in graph["fetches"]}
    assert by_fetch["IteratorGetNext:0"] == [0, 1] and by_fetch["mul:0"] == [0, 1]


def test_a_folder_that_cannot_be_written_ends_no_training(record, tmp_path):
    graphs, _ = record(
        """
        import os, pathlib
        import tensorflow as tf
        one = tf.constant(1.0) + 1
        with tf.Session() as session:
            session.run(one)
            pathlib.Path("out/other").rename("out/moved")
            pathlib.Path("elsewhere").mkdir()
            os.symlink("../elsewhere", "out/other")
            session.run(one)
            session.run(one)
            print("end")
        """
    )
    assert graphs[1]["steps"] == [0] and graphs[1]["runs"] == 3
    assert not list((tmp_path / "elsewhere").iterdir())
    (line,) = [line for line in (tmp_path / "said").read_text().splitlines() if "dump reference" in line]
    assert "out/other" in line and "symbolic link" in line and "the script goes on" in line


def test_a_damaged_file_of_the_debugger_is_told(tmp_path):
    import errno

    from npu_bridge._reference.tensor_files import Counts, write_step

    from npu_formats.files.directory import Directory

    folder = tmp_path / "dumped" / "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
    folder.mkdir(parents=True)
    (folder / "loss_0_DebugIdentity_1700000000000000").write_bytes(b"\x1a\xff")
    (tmp_path / "step").mkdir()
    with Directory.given(tmp_path / "step") as step, pytest.raises(OSError, match="loss:0") as told:
        write_step(tmp_path / "dumped", step, Counts())
    assert told.value.errno == errno.EIO and not list((tmp_path / "step").iterdir())
