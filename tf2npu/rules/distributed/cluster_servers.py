"""Parameter servers and workers: what becomes of them is told once in a file, written out."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.asked_distribution import to_convert
from tf2npu.rules.facts.cluster_programs import is_cluster_program
from tf2npu.rules.facts.constant_values import integer_of, text_of
from tf2npu.rules.facts.flag_defaults import flag_default
from tf2npu.rules.facts.written_code import given
from tf2npu.scanner.sites import Call

_SERVERS_WHY = (
    "Servers of a cluster exchange variables and sessions by gRPC; NPUs work together over HCCL, each with its own process."
)
_SERVERS_SOURCE = "TensorFlow adapter porting guide: distributed training is data parallel, one process a device, over HCCL"
_SERVER = "server = tf.train.Server(cluster, 'worker', 0)\n"
_RANKS = """
import os
import tensorflow as tf
from npu_bridge.npu_init import *
rank, size = int(os.getenv('RANK_ID', '0')), int(os.getenv('RANK_SIZE', '1'))
features, labels = make_dataset().shard(size, rank).make_one_shot_iterator().get_next()
loss = build_model(features, labels)
optimizer = npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(0.1))
train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
hooks = npu_hooks_append([tf.train.StopAtStepHook(num_steps=1000)])
saves = 100 if rank == 0 else 0
with tf.train.MonitoredTrainingSession(
    checkpoint_dir='model', save_checkpoint_steps=saves, hooks=hooks, config=npu_config_proto()
) as sess:
    while not sess.should_stop():
        sess.run(train)
"""
"""Code that a person writes in the place of a cluster's program."""


_DONE_WHEN = "No line makes a server or waits for one, and `tf2npu run --devices 2` trains both ranks to the end."


@rule(
    id="NPU956",
    title="Server of a cluster",
    once=True,
    matches=("tensorflow.train.Server",),
    why=_SERVERS_WHY,
    done_when=_DONE_WHEN,
    source=_SERVERS_SOURCE,
    examples=(
        Example.same(
            _SERVER + "if job == 'ps':\n    server.join()\n"
            "with tf.device(tf.train.replica_device_setter(cluster=cluster)):\n    loss = f()\n"
            "opt = tf.train.SyncReplicasOptimizer(make_optimizer(), 2)",
            note="told once for the whole program",
            level="unsupported",
            write=_RANKS,
        ),
        Example.same("server = tf.train.Server.create_local_server()", note="one of this process alone"),
        Example.same("server = http.Server(cluster)", note="not TensorFlow's"),
    ),
)
def cluster_server(call: Call) -> None:
    """Reports the program of a cluster at its servers, with what to write in its place."""
    call.unsupported(_of_cluster(call))


def _of_cluster(call: Call) -> str:
    return _WRITE.format(to_convert(call, "convert with --distributed tf, "))


_WRITE = (
    "Parameter servers and workers have no counterpart: one process runs on each NPU, and all average their gradients. Take out "
    "ClusterSpec, Server, server.join(), replica_device_setter, the session's target, SyncReplicasOptimizer and its hook; "
    "{}start one process for each NPU in the place of the cluster, and write: rank, size = "
    "int(os.getenv('RANK_ID', '0')), int(os.getenv('RANK_SIZE', '1')); dataset = dataset.shard(size, rank); optimizer = "
    "npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(rate)); hooks = "
    "npu_hooks_append([tf.train.StopAtStepHook(num_steps=n)]); with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, "
    "save_checkpoint_steps=m if rank == 0 else 0, hooks=hooks, config=npu_config_proto()) as sess: the loop of the workers."
)


@part_of(
    cluster_server,
    matches=("tensorflow.train.SyncReplicasOptimizer",),
    examples=(
        Example.same(_SERVER + "opt = tf.train.SyncReplicasOptimizer(make(), 4)", note="one more place", level="unsupported"),
        Example.same("server = mylib.Server(c)\nopt = mylib.SyncReplicasOptimizer(o)", note="not TensorFlow's"),
        Example.same("opt = mylib.SyncReplicasOptimizer(o)", note="not TensorFlow's"),
    ),
)
def cluster_optimizer(call: Call) -> None:
    """Names the optimizer of a cluster's program as one more of its places."""
    if is_cluster_program(call.script):
        call.unsupported(_of_cluster(call))


@part_of(
    cluster_server,
    matches=("tensorflow.train.replica_device_setter",),
    examples=(
        Example.same(
            "with tf.device(tf.train.replica_device_setter(cluster=c)):\n    v = f()",
            level="unsupported",
            write="v = f()",
        ),
        Example.same("with tf.device(tf.train.replica_device_setter(0)):\n    v = f()", note="no server: it places nothing"),
        Example.same(
            "tf.flags.DEFINE_integer('ps_tasks', 0, 'servers')\n"
            "with tf.device(tf.train.replica_device_setter(tf.flags.FLAGS.ps_tasks)):\n    v = f()",
            note="none unless the command line asks for some",
            level="info",
        ),
        Example.same("d = mylib.replica_device_setter(c)", note="not TensorFlow's"),
        Example.same("with tf.device('/cpu:0'):\n    v = f()", note="no server"),
    ),
)
def cluster_variables(call: Call) -> None:
    """Reports variables on parameter servers."""
    tasks = call.value("ps_tasks", 0)
    has_cluster = call.value("cluster", 4) is not None or call.has_star_args
    is_flag = tasks is not None and flag_default(call, tasks) == 0
    if not has_cluster and (tasks is None or integer_of(tasks, call.scope) == 0):
        return None  # it gives None, and tf.device(None) is where the graph is anyhow
    if not has_cluster and tasks is not None and is_flag:
        return call.info(
            f"With {call.source(tasks)} at its default, 0, this places nothing. More would put variables on parameter servers, "
            "which have no counterpart: one process runs on each NPU."
        )
    if is_cluster_program(call.script):
        return call.unsupported(_of_cluster(call))
    return call.unsupported(
        "Variables on parameter servers have no counterpart: take this device scope out, so that each process holds them all"
        f"{to_convert(call, ', and convert with --distributed tf, which averages their gradients')}. With ps_tasks=0 and no "
        "cluster it places nothing and may stay."
    )


@rule(
    id="NPU413",
    title="Synchronous replicas",
    matches=("tensorflow.train.SyncReplicasOptimizer",),
    why="It collects gradients on parameter servers, which NPUs do not have.",
    done_when=_DONE_WHEN,
    source="TensorFlow adapter porting guide: distributed training",
    examples=(
        Example.same(
            "def f(opt):\n    return tf.train.SyncReplicasOptimizer(opt, 4)",
            note="to be taken out",
            level="unsupported",
            write="def f(opt):\n    return opt",
        ),
        Example.same("opt = mylib.SyncReplicasOptimizer(o)", note="not TensorFlow's"),
        Example.same(_SERVER + "opt = mylib.SyncReplicasOptimizer(o)", note="not TensorFlow's"),
    ),
)
def sync_replicas(call: Call) -> None:
    """Reports SyncReplicasOptimizer where no server of a cluster is made."""
    if not is_cluster_program(call.script):
        call.unsupported(
            "Use the inner optimizer alone, without the hook of make_session_run_hook(); with --distributed tf its gradients are "
            "averaged over the ranks.",
            given(call, "opt", 0),
        )


@part_of(
    cluster_server,
    matches=("tensorflow.Session", "tensorflow.InteractiveSession"),
    why="A session with a target runs in the process that listens there, not in this one, which has the NPU.",
    done_when="The summary of `tf2npu run` counts this session's runs on the device.",
    source="tf.Session(target, ...) of TensorFlow 1.15",
    examples=(
        Example.same(
            "s = tf.Session('grpc://10.0.0.2:8470', config=npu_config_proto())\ns.close()",
            level="unsupported",
            write="s = tf.Session(config=npu_config_proto())\ns.close()",
        ),
        Example.same(
            "r = tf.contrib.cluster_resolver.TPUClusterResolver(tpu='a')\n"
            "with tf.Session(target=r.get_master(), config=npu_config_proto()) as s:\n    pass",
            note="of a TPU",
            level="unsupported",
        ),
        Example.same("with tf.Session(TPU_ADDRESS, config=npu_config_proto()) as s:\n    pass", level="unsupported"),
        Example.same("with tf.Session('', config=npu_config_proto()) as s:\n    pass", note="this process"),
        Example.same("with tf.Session(FLAGS.master, config=npu_config_proto()) as s:\n    pass", note="may be empty"),
        Example.same("with tf.Session(server.target, config=npu_config_proto()) as s:\n    pass", note="said at the server"),
    ),
)
def session_elsewhere(call: Call) -> None:
    """Reports sessions that run on a TPU or in another process."""
    target = call.value("target", 0)
    if target is None:
        return
    text = text_of(target, call.scope)
    owner = target.func.value if isinstance(target, cst.Call) and isinstance(target.func, cst.Attribute) else target
    is_tpu = "tpu" in call.source(target).lower() or (call.resolve(owner) or "").endswith("TPUClusterResolver()")
    if (text or "").startswith("grpc://") or (text is None and is_tpu):
        call.unsupported("This session runs where its target is, not here on the NPU: leave the target out.")
