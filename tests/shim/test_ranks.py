"""`tf2npu run --devices N`: training on several ranks is TensorFlow's training of one process on the whole batch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from npu_formats.ranks.shared_folder import PREFIX, shared_folder
from tests import fork_server
from tests.shim.conftest import checked, plain_environment
from tests.shim.data_parallel_scripts import HOROVOD, MIRRORED
from tests.shim.test_launch import TF2NPU, launch, script  # noqa: F401

MODEL = """
import json, os, sys
import numpy as np
import tensorflow as tf
tf = tf if hasattr(tf, "placeholder") else tf.compat.v1
tf.disable_eager_execution()

rng = np.random.RandomState(0)
images, ids = rng.rand(40, 8, 6).astype("f"), rng.randint(0, 30, [40, 8])
labels = rng.rand(40, 8, 1).astype("f")
start = [rng.randn(*shape).astype("f") for shape in ((6, 5), (30, 5), (10, 1))]

def network(shift):
    x, i, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 1])
    w, table, v = (tf.Variable(value + shift, name="w%d" % n) for n, value in enumerate(start))
    rows = tf.matmul(tf.one_hot(i, 30), table) if DENSE else tf.nn.embedding_lookup(table, i)
    hidden = tf.concat([tf.tanh(tf.matmul(x, w)), rows], 1)
    loss = tf.reduce_mean(tf.square(tf.matmul(hidden, v) - y))
    return (x, i, y), loss

def train(session, inputs, op, rank, size):
    for step in range(6):
        part = slice(rank * 8 // size, (rank + 1) * 8 // size)
        session.run(op, dict(zip(inputs, (images[step][part], ids[step][part], labels[step][part]))))
"""

PLAIN = (
    MODEL
    + """
inputs, loss = network(0.0)
op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_or_create_global_step())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    train(session, inputs, op, 0, 1)
    print(json.dumps([value.tolist() for value in session.run(tf.trainable_variables())]))
"""
)

SEVERAL = (
    MODEL
    + """
from npu_bridge.npu_init import *
rank, size = int(os.environ["RANK_ID"]), int(os.environ["RANK_SIZE"])
inputs, loss = network(0.5 * rank)
optimizer = OPTIMIZER
op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
with tf.train.MonitoredTrainingSession(hooks=npu_hooks_append()) as session:
    train(session, inputs, op, rank, size)
    print(json.dumps([value.tolist() for value in session.run(tf.trainable_variables())]))
"""
)

OPTIMIZERS = {
    "averaged": "NPUDistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))",
    "wrapped": "npu_distributed_optimizer_wrapper(tf.train.MomentumOptimizer(0.1, 0.9))",
    "sharded": "NPUDistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), is_weight_update_sharding=True)",
    "scaled": "NPULossScaleOptimizer(NPUDistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9)), "
    "FixedLossScaleManager(1024.0), is_distributed=True)",
}


DENSE = "DENSE = True\n"
"""Momentum moves every row of a table then, not only those of the batch."""
SPARSE = "DENSE = False\n"


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Callable[[str], list[np.ndarray]]:
    """Results of TensorFlow for the whole batch in one process that never sees npu_bridge."""

    @cache
    def trained(kind: str) -> list[np.ndarray]:
        path = tmp_path_factory.mktemp("plain") / "plain.py"
        path.write_text(kind + PLAIN)
        done = checked(fork_server.python([path], plain_environment()))
        return variables(done.stdout)[0]

    return trained


def variables(printed: str) -> list[list[np.ndarray]]:
    lines = [line.split("] ", 1)[-1] if line.startswith("[rank") else line for line in printed.splitlines()]
    return [[np.array(value, np.float32) for value in json.loads(line)] for line in lines if line.startswith("[[")]


@pytest.mark.whole(but=("averaged",))
@pytest.mark.parametrize("how", OPTIMIZERS)
def test_two_ranks_train_as_one_process_on_the_whole_batch(script, plain, how):  # noqa: F811
    """Each rank reads half of every batch and begins with other variables, which rank 0's replace.

    Slices of a table stay slices, but those of a sharded update are added up for its owner.
    """
    kind = DENSE if how == "sharded" else SPARSE
    done = launch("--devices", "2", script(kind + SEVERAL.replace("OPTIMIZER", OPTIMIZERS[how], 1)))
    assert done.returncode == 0, done.stderr[-3000:]
    made = variables(done.stdout)
    assert len(made) == 2 and all(a.tobytes() == b.tobytes() for a, b in zip(*made, strict=True)), "both ranks have the same bits"
    for ours, theirs in zip(made[0], plain(kind), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.whole
def test_four_ranks_and_groups_of_two(script, plain):  # noqa: F811
    """Averages over both halves of the world, then over the halves: the same average."""
    averaged = """
class InTwoSteps(tf.train.MomentumOptimizer):
    def compute_gradients(self, *args, **kwargs):
        create_group("pair", 2, [rank // 2 * 2, rank // 2 * 2 + 1])
        create_group("across", 2, [rank % 2, rank % 2 + 2])
        pairs = super().compute_gradients(*args, **kwargs)
        def mean(g):
            g = tf.convert_to_tensor(g)
            return hccl_ops.allreduce(hccl_ops.allreduce(g, "sum", group="pair") / 2.0, "sum", group="across") / 2.0
        return [(mean(g), v) for g, v in pairs]
optimizer = InTwoSteps(0.1, 0.9)
"""
    done = launch("--devices", "4", script(DENSE + SEVERAL.replace("optimizer = OPTIMIZER\n", averaged)))
    assert done.returncode == 0, done.stderr[-3000:]
    made = variables(done.stdout)
    assert len(made) == 4
    for ours, theirs in zip(made[3], plain(DENSE), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def horovod_by_hand() -> np.ndarray:
    """Horovod's rule in numpy: the mean of both ranks' gradients, each of its own part."""
    data = np.arange(32, dtype=np.float32).reshape(16, 2) / 16
    w = np.array([[1.0], [-1.0]])
    for step in range(8):
        rows = [[rank + 2 * ((4 * step + i) % 8) for i in range(4)] for rank in range(2)]
        parts = [data[chosen] for chosen in rows]
        w = w - 0.2 * np.mean([2 * x.T @ (x @ w - 3.0) / 4 for x in parts], axis=0)
    return w


@pytest.mark.whole(but=("guarded",))
@pytest.mark.parametrize("kind", HOROVOD)
def test_a_converted_horovod_script_trains_on_two_ranks(script, tmp_path, kind):  # noqa: F811
    script(HOROVOD[kind], "src/train.py")
    fork_server.tf2npu(["convert", "src", "out", "--distributed", "horovod"], plain_environment(), tmp_path)
    done = launch("--devices", "2", "--report", "out/tf2npu-report", "out/train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    last = [value[0] for value in variables(done.stdout)]
    assert len(last) == 2 and last[0].tobytes() == last[1].tobytes()
    np.testing.assert_allclose(last[0], horovod_by_hand(), rtol=1e-5)
    run = json.loads((tmp_path / "out" / "tf2npu-report" / "report.json").read_text())["run"]
    assert run["script"] == "out/train.py" and run["device_share"] == 1.0


KERAS = """
import json, os
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
rank = get_rank_id()
sess = set_keras_session_npu_config()
tf.set_random_seed(rank)
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="tanh", input_shape=(3,)), tf.keras.layers.Dense(1)])
model.compile(KerasDistributeOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
rng = np.random.RandomState(0)
x, y = rng.rand(32, 3).astype("f")[rank::2], rng.rand(32, 1).astype("f")[rank::2]
before = model.get_weights() if rank == 0 else None
model.fit(x, y, batch_size=8, epochs=2, verbose=0, shuffle=False, callbacks=[NPUBroadcastGlobalVariablesCallback(0)])
print(json.dumps([value.tolist() for value in model.get_weights()]))
sess.close()
"""


@pytest.mark.whole
def test_keras_starts_from_the_weights_of_rank_0_and_averages(script):  # noqa: F811
    done = launch("--devices", "2", script(KERAS))
    assert done.returncode == 0, done.stderr[-3000:]
    made = variables(done.stdout)
    assert len(made) == 2 and all(a.tobytes() == b.tobytes() for a, b in zip(*made, strict=True))


@pytest.mark.whole
def test_a_converted_strategy_with_what_its_finding_says(script, tmp_path):  # noqa: F811
    """Keras divides the loss by the ranks inside a scope: with the advised factor the steps are those of the mean gradient."""
    script(MIRRORED, "src/train.py")
    convert = [TF2NPU, "convert", "src", "out", "--distributed", "tf"]
    done = subprocess.run(convert, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "multiply the learning rate by get_rank_size()" in done.stdout
    path = tmp_path / "out" / "train.py"
    path.write_text(path.read_text().replace("SGD(0.2)", "SGD(0.2 * get_rank_size())"))
    done = launch("--devices", "2", path)
    assert done.returncode == 0, done.stderr[-3000:]
    for (made,) in variables(done.stdout):
        np.testing.assert_allclose(made, horovod_by_hand(), rtol=1e-5)


class TestWhatGoesWrong:
    """Each is told by the line that is wrong; nobody waits for ever."""

    STEP = """
import sys
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.hccl import hccl_ops
rank = int(os.environ["RANK_ID"])
total = hccl_ops.allreduce(tf.ones([2 + rank * int(sys.argv[2])]), "sum")
with tf.Session() as session:
    for step in range(int(sys.argv[1]) - rank):
        session.run(total)
print("done", rank)
"""

    def run(self, path: Path, *words: object, **variables: str) -> subprocess.CompletedProcess:
        begun = time.monotonic()
        done = launch("--devices", "2", path, *words, **variables)
        assert time.monotonic() - begun < 300, "a quiet machine takes five seconds"
        return done

    @pytest.mark.whole
    def test_a_rank_that_makes_fewer_steps(self, script):  # noqa: F811
        done = self.run(script(self.STEP), 3, 0)
        assert done.returncode == 1 and "[rank 1] done 1" in done.stdout and "done 0" not in done.stdout
        said = "HcomAllReduce sum waits for rank 1, which has ended with exit code 0; every rank has to run the same steps"
        assert said in done.stderr and "script.py" in done.stderr

    @pytest.mark.whole
    def test_ranks_with_tensors_of_other_shapes(self, script):  # noqa: F811
        done = self.run(script(self.STEP), 3, 1)
        assert done.returncode == 1
        assert "the ranks bring tensors that differ: rank 0 float32[2], rank 1 float32[3]" in done.stderr

    def test_a_rank_that_fails_ends_the_run_with_its_exit_code(self, script):  # noqa: F811
        failing = "import os, sys, time\nif os.environ['RANK_ID'] == '1': sys.exit(7)\ntime.sleep(3600)\n"
        done = self.run(script(failing))
        assert done.returncode == 7
        assert "rank 1 has ended with exit code 7" in done.stderr and "stopping rank 0" in done.stderr

    @pytest.mark.whole
    def test_a_session_on_tensorflow_refuses_instead_of_computing_something_else(self, script):  # noqa: F811
        early = "early = tf.Session()\nfrom npu_bridge.npu_init"
        source = self.STEP.replace("from npu_bridge.npu_init", early, 1).replace(
            "with tf.Session() as session", "with early as session"
        )
        done = self.run(script(source), 3, 0)
        assert done.returncode == 1 and "collective operations of several ranks run on the device only" in done.stderr

    def test_a_wrong_time_limit(self, script):  # noqa: F811
        done = self.run(script("1"), HCCL_EXEC_TIMEOUT="soon")
        assert done.returncode == 2 and "HCCL_EXEC_TIMEOUT=soon" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.whole
def test_what_each_rank_sees_and_says(script):  # noqa: F811
    source = """
import json, os, sys
table = json.load(open(os.environ["RANK_TABLE_FILE"]))
devices = table["server_list"][0]["device"]
names = ("RANK_ID", "RANK_SIZE", "DEVICE_ID", "ASCEND_DEVICE_ID")
print([os.environ[name] for name in names], sys.argv[1:], [d["rank_id"] for d in devices])
print("to stderr", file=sys.stderr)
"""
    done = launch("--devices", "3", script(source), "--epochs", "2", CM_WORKER_SIZE="3")
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == sorted(
        f"{f'[rank {rank}] ' if rank else ''}['{rank}', '3', '{rank}', '{rank}'] ['--epochs', '2'] ['0', '1', '2']"
        for rank in range(3)
    )
    assert "the ranks called no collective operation: each has worked for itself" in done.stderr
    said = [line for line in done.stderr.splitlines() if "to stderr" in line]
    assert sorted(said) == ["[rank 1] to stderr", "[rank 2] to stderr", "to stderr"]


def test_folders_of_launchers_that_were_killed_go_when_the_next_begins(tmp_path):
    with shared_folder(tmp_path) as alive, shared_folder(tmp_path) as fresh:
        killed = tmp_path / f"{PREFIX}00000000000000a1"
        other = tmp_path / "tf2npu-other"
        for folder in (killed, other):
            folder.mkdir(0o700)
            (folder / "rank0-1f").write_bytes(b"memory")
        for folder in (alive, killed, other):
            os.utime(folder, (0, 0))
        with shared_folder(tmp_path) as mine:
            assert sorted(tmp_path.iterdir()) == sorted([alive, fresh, other, mine])
    assert list(tmp_path.iterdir()) == [other]


INTERRUPTED = """
import time
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.hccl import hccl_ops
v = tf.Variable(0.0)
step = tf.assign_add(v, hccl_ops.allreduce(tf.constant(1.0), "sum"))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    try:
        for i in range(3000):
            session.run(step)
            if i == 5:
                print("running", flush=True)
            time.sleep(0.01)
    except KeyboardInterrupt:
        print("stopped with", session.run(v) / 2 > 5)
"""


def interrupted(program: Path, folder: Path) -> str:
    """The output of a run on two ranks that is interrupted a second after it says "running", as by the terminal's Ctrl-C.

    A test that runs in the background of a shell has SIGINT ignored, and would hand that on.
    """
    started = subprocess.Popen(
        [TF2NPU, "run", "--devices", "2", program], env=plain_environment(), cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        while "running" not in started.stdout.readline():
            assert started.poll() is None
        time.sleep(1.0)
        os.killpg(started.pid, signal.SIGINT)
        rest, _ = started.communicate(timeout=300)
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
    assert started.returncode == 0, rest
    return rest


def test_an_interrupt_reaches_every_rank(script, tmp_path):  # noqa: F811
    """It goes to the whole group; the scripts end as they say, and nobody is left behind."""
    rest = interrupted(script(INTERRUPTED), tmp_path)
    assert "\nstopped with True" in f"\n{rest}" and "[rank 1] stopped with True" in rest


WAITS = """
import os, signal, time
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.hccl import hccl_ops
total = hccl_ops.allreduce(tf.constant(1.0), "sum")
if os.environ["RANK_ID"] == "1":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    open("asleep", "w").close()
    while not os.path.exists("stopped"):
        time.sleep(0.05)
else:
    with tf.Session() as session:
        while not os.path.exists("asleep"):
            time.sleep(0.05)
        print("running", flush=True)
        try:
            session.run(total)
        except KeyboardInterrupt:
            open("stopped", "w").close()
"""


@pytest.mark.whole
def test_an_interrupt_reaches_a_rank_that_waits_for_one_that_does_not_come(script, tmp_path):  # noqa: F811
    interrupted(script(WAITS), tmp_path)
    assert (tmp_path / "stopped").exists()
