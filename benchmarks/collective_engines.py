"""Time of an all-reduce of fp32 on the embedded engine, on the engine mpi, and by TensorFlow's own collectives.

python -m benchmarks.collective_engines [--rounds 5] [--ranks 2 4 8] [--network] [--tensorflow]

Engines take turns within a round. Printed: the median of all rounds in ms, the seconds until the first result, and how much
slower each is than the embedded engine.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

SIZES = {"4 KB": 1 << 12, "1 MB": 1 << 20, "25 MB": 25 << 20, "100 MB": 100 << 20}
REPEATS = 3
"""Timed calls of each size in a round, after one that is not."""
PATIENCE_SECONDS = 300
BY_NETWORK = "mpi, coordinator by network"
"""As between machines, where each message to the coordinator and back is sealed; here it all goes through loopback."""

RANK = """
import json, os, sys, time
from statistics import median
import numpy as np

address, place, rank, size, engine, sizes, repeats, ports = json.loads(sys.argv[1])
begun = time.perf_counter()

def ours():
    from npu_runtime.collectives.collective_call import Call
    from npu_runtime.collectives.communicator import Communicator
    from npu_runtime.collectives.mpi_engine import Mpi

    me = Communicator(address, rank, place, Mpi(size, "") if engine.startswith("mpi") else None)
    call = Call("HcomAllReduce", tuple(range(size)), "sum")
    return me.finish, lambda x: me.exchange(call, [x])

def tensorflows():
    import tensorflow.compat.v1 as tf

    config = tf.ConfigProto()
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    cluster = tf.train.ClusterSpec({"worker": ["127.0.0.1:%d" % port for port in ports]})
    server = tf.train.Server(cluster, "worker", rank, config=config)
    with tf.Graph().as_default() as graph, tf.device("/job:worker/task:%d/cpu:0" % rank):
        given, key = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
        total = tf.raw_ops.CollectiveReduceV2(
            input=given, group_size=size, group_key=1, instance_key=key, ordering_token=[], merge_op="Add", final_op="Id"
        )
    session, keys = tf.Session(server.target, graph=graph, config=config), iter(range(1, 10000))
    return lambda: None, lambda x: session.run(total, {given: x, key: next(keys)})

finish, reduce = tensorflows() if engine == "tensorflow" else ours()
reduce(np.ones(4, np.float32))
found = {"start": time.perf_counter() - begun}
for name, n_bytes in sizes.items():
    x = np.random.default_rng(rank).random(n_bytes // 4, np.float32)
    taken = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        reduce(x)
        taken.append(time.perf_counter() - began)
    found[name] = median(taken[1:])
finish()
if rank == 0:
    print(json.dumps(found))
"""


def one_round(engine: str, n_ranks: int) -> dict[str, float]:
    """Seconds by size, and until the first result."""
    from npu_runtime.collectives.coordinator import Coordinator

    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        ports = _free_ports(n_ranks)
        coordinator = Coordinator(Path(folder), network=("127.0.0.1", ports[0]) if engine == BY_NETWORK else None)
        ranks = []
        for rank in range(n_ranks):
            given = json.dumps([coordinator.address, coordinator.place, rank, n_ranks, engine, SIZES, REPEATS, ports])
            quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
            command = [sys.executable, "-c", RANK, given]
            ranks.append(subprocess.Popen(command, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        try:
            found: dict[str, float] = json.loads(ranks[0].communicate(timeout=PATIENCE_SECONDS)[0])
        finally:
            for process in ranks[1:]:
                process.wait(PATIENCE_SECONDS) if engine != "tensorflow" else process.kill()
            coordinator.close()
    return found


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--network", action="store_true", help="the engine mpi with a coordinator at 127.0.0.1 too")
    parser.add_argument("--tensorflow", action="store_true", help="its collectives too, which take minutes")
    words = parser.parse_args()
    engines = ["embedded", "mpi", *([BY_NETWORK] if words.network else []), *(["tensorflow"] if words.tensorflow else [])]
    columns = ["start", *SIZES]
    print(f"| engine | ranks | start s | {' | '.join(SIZES)} | times the embedded |\n|{'---|' * (len(SIZES) + 4)}")
    for n_ranks in words.ranks:
        taken: dict[tuple[str, str], list[float]] = defaultdict(list)
        for _ in range(words.rounds):
            for engine in engines:
                for column, seconds in one_round(engine, n_ranks).items():
                    taken[engine, column].append(seconds)
        for engine in engines:
            here, base = ({column: median(taken[name, column]) for column in columns} for name in (engine, "embedded"))
            ratios = " / ".join(f"{here[size] / base[size]:.2f}" for size in SIZES)
            times = " | ".join(f"{here[size] * 1000:.2f}" for size in SIZES)
            print(f"| {engine} | {n_ranks} | {here['start']:.1f} | {times} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
