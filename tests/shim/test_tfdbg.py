"""tfdbg on device sessions: dumps are read with TensorFlow's own reader and hold what TensorFlow's own dump holds."""

from __future__ import annotations

import os
import subprocess
import textwrap

import numpy as np
import pytest
import tensorflow as tf

from tests import fork_server


def network():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
    y = tf.matmul(x, w, name="inner/product")
    length = tf.strings.length(tf.as_string(x, name="text"), name="length")
    loss = tf.add(tf.reduce_sum(y / (x[:, :1] - 1)), tf.cast(tf.reduce_sum(length), tf.float32), name="loss")
    branch = tf.cond(loss > 0, lambda: loss * 2, lambda: loss)
    return x, w, loss, branch


FED = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


@pytest.fixture
def sessions(graph, plain_session):
    elements = network()
    with tf.Session(graph=graph) as device:
        for session in (plain_session, device):
            session.run(tf.global_variables_initializer())
        yield {"tensorflow": plain_session, "device": device}, elements


def dumped(session, graph, fetch, feeds, folder, **watch):
    from tensorflow.python.debug.lib import debug_data, debug_utils

    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    debug_utils.watch_graph(options, graph, debug_urls=[f"file://{folder}"], **watch)
    value = session.run(fetch, feeds, options=options, run_metadata=metadata)
    assert metadata.partition_graphs
    return value, debug_data.DebugDumpDir(str(folder), partition_graphs=metadata.partition_graphs)


def contents(dump):
    return {f"{datum.node_name}:{datum.output_slot}": datum.get_tensor() for datum in dump.dumped_tensor_data}


@pytest.mark.parametrize("watch", [{}, {"node_name_regex_allowlist": "inner.*|length|w$"}])
def test_the_dump_is_tensorflows(sessions, graph, tmp_path, watch):
    both, (x, _, loss, _) = sessions
    values, dumps = {}, {}
    for side, session in both.items():
        values[side], dumps[side] = dumped(session, graph, loss, {x: FED}, tmp_path / side, **watch)
    assert values["device"] == values["tensorflow"] == np.inf
    theirs, ours = (contents(dumps[side]) for side in ("tensorflow", "device"))
    shared = set(theirs) & set(ours)
    assert {"inner/product:0", "length:0"} <= shared and len(shared) >= (3 if watch else 8)
    for name in shared:
        np.testing.assert_array_equal(ours[name], theirs[name], name)
    assert dumps["device"].core_metadata.output_names == ["loss:0"]
    from tensorflow.python.debug.lib import debug_data

    if not watch:
        found = {d.node_name for d in dumps["device"].find(debug_data.has_inf_or_nan)}
        assert found == {d.node_name for d in dumps["tensorflow"].find(debug_data.has_inf_or_nan)} and "loss" in found


def test_branches_are_named_and_other_runs_are_not_dumped(sessions, graph, tmp_path, capsys):
    from npu_bridge import _log

    _log._said.clear()
    both, (x, _, loss, branch) = sessions
    value, dump = dumped(both["device"], graph, branch, {x: FED * 2}, tmp_path / "a")
    assert value == both["tensorflow"].run(branch, {x: FED * 2}) and dump.size > 5
    assert "inside loops and conditions" in capsys.readouterr().err
    both["device"].run(loss, {x: FED})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_dumping_wrapper_and_hook(sessions, graph, tmp_path):
    from tensorflow.python import debug as tfdbg
    from tensorflow.python.debug.lib import debug_data

    both, (x, _, loss, _) = sessions
    wrapped = tfdbg.DumpingDebugWrapperSession(both["device"], str(tmp_path / "wrapper"))
    wrapped.run(loss, {x: FED})
    step = tf.train.get_or_create_global_step()
    hook = tfdbg.DumpingDebugHook(str(tmp_path / "hook"))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run([loss, step], {x: FED})
    for name in ("wrapper", "hook"):
        (run,) = (tmp_path / name).glob("run_*")
        assert debug_data.DebugDumpDir(str(run)).get_tensors("loss", 0, "DebugIdentity")[0] == np.inf


COMMAND_LINE = """
import numpy as np
from npu_bridge.npu_init import *
from tensorflow.python import debug as tf_debug
x = tf.placeholder(tf.float32, [None], name="x")
y = tf.square(x, name="squares")
with tf.Session() as session:
    wrapped = tf_debug.LocalCLIDebugWrapperSession(session, ui_type="readline")
    print("result", wrapped.run(y, {x: [1.0, 2.0]}))
    hook = tf_debug.LocalCLIDebugHook(ui_type="readline")
with tf.train.MonitoredSession(hooks=[hook]) as session:
    print("monitored", session.run(y, {x: [3.0]}))
"""


def test_the_command_line(tmp_path):
    (tmp_path / "script.py").write_text(textwrap.dedent(COMMAND_LINE))
    commands = "run\npt squares:0\nrun\nrun\npt squares:0\nrun\nrun\n"
    done = fork_server.python(["script.py"], os.environ, tmp_path, commands)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "[1. 4.]" in done.stdout and "squares:0:DebugIdentity" in done.stdout and "monitored [9.]" in done.stdout
    assert "tensors are dumped by the device" in done.stderr


LISTING_5_60 = """
import numpy as np
from npu_bridge.npu_init import *
from tensorflow.python import debug as tf_debug
x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
hidden = tf.layers.max_pooling2d(tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, name="conv1"), 2, 2, name="pool1")
logits = tf.layers.dense(tf.layers.flatten(hidden, name="flat"), 3, name="fc")
loss = tf.losses.sparse_softmax_cross_entropy([0, 1], logits)
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess = tf_debug.LocalCLIDebugWrapperSession(sess, ui_type="readline")
    sess.run([train, loss], {x: np.ones([2, 8, 8, 1])})
"""
"""A network wrapped as the textbook's listing 5-60 wraps it."""
AWK = (
    "timestamp=$[$(date +%s%N)/1000] ; cat tensor_name | awk '{print \"pt\",$4,$4}' | "
    'awk \'{gsub("/", "_", $3);gsub(":", ".", $3);print($1,$2,"-n 0 -w "$3".""\'$timestamp\'"".npy")}\' > commands.txt'
)
"""The awk program of listing 5-61, as the vendor's documents have it: it makes the commands out of a list of tensors."""


def test_the_textbooks_listings(tmp_path):
    (tmp_path / "train.py").write_text(LISTING_5_60)
    done = fork_server.python(["train.py"], os.environ, tmp_path, "run\nlt > tensor_name\nexit\n")
    assert done.returncode == 0, done.stderr[-2000:]
    subprocess.run(["bash", "-c", AWK], cwd=tmp_path, check=True)
    commands = [line for line in (tmp_path / "commands.txt").read_text().splitlines() if ":" in line.partition("-n")[0]]
    assert len(commands) > 80 and any("conv1/Conv2D:0" in line for line in commands)
    typed = "\n".join(["run", *commands, "exit", ""])
    done = fork_server.python(["train.py"], os.environ, tmp_path, typed)
    assert done.returncode == 0, done.stderr[-2000:]
    written = {path.name.rsplit(".", 3)[0] for path in tmp_path.glob("*.npy")}
    names = {line.split()[1].replace("/", "_").partition(":")[0] for line in commands}
    assert names == written
