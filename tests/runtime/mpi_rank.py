"""One rank with the engine mpi, run as a process: `python -m tests.runtime.mpi_rank ADDRESS RANK SIZE WHAT [ARGUMENT]`."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.communicator import Communicator
from npu_runtime.collectives.mpi_engine import Mpi
from npu_runtime.errors import FailedPrecondition

ADDRESS, RANK, SIZE, WHAT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
WORLD = tuple(range(SIZE))
SUM = Call("HcomAllReduce", WORLD, "sum")
DTYPES = ("float32", "float64", "int32", "int64", "int8", "bool")
NUMPY = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
rank = Communicator(ADDRESS, RANK, mpi=Mpi(SIZE, ""))


def drawn(rng: np.random.Generator) -> list[np.ndarray]:
    """The arrays of all ranks, small ones, large ones, and some of no elements; the first axis divides by the ranks."""
    shape = (SIZE * int(rng.integers(1, 4)), *rng.integers(0, [5, 2000][rng.integers(2)], rng.integers(0, 3)))
    dtype = np.dtype(DTYPES[rng.integers(len(DTYPES))])
    return [(rng.standard_normal(shape) * 4).astype(dtype) for _ in WORLD]


def reduced(arrays: list[np.ndarray], reduction: str) -> np.ndarray:
    """By numpy, in the order of the ranks."""
    total = arrays[0]
    for array in arrays[1:]:
        total = NUMPY[reduction](total, array)
    return total


def agree(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), (ours.shape, theirs.shape)
    assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def collectives(rng: np.random.Generator) -> None:
    """One of each; all ranks draw alike, and each knows what the others bring."""
    arrays, reduction = drawn(rng), list(NUMPY)[rng.integers(4)]
    root = int(rng.integers(SIZE))
    own, total = arrays[RANK], reduced(arrays, reduction)
    agree(rank.exchange(Call("HcomAllReduce", WORLD, reduction), [own]), total)
    agree(rank.exchange(Call("HcomReduce", WORLD, reduction, root), [own]), total if root == RANK else own)
    agree(rank.exchange(Call("HcomAllGather", WORLD), [own]), np.concatenate(arrays))
    agree(rank.exchange(Call("HcomBroadcast", WORLD, root=root), [own]), arrays[root])
    agree(rank.exchange(Call("HcomReduceScatter", WORLD, reduction), [own]), np.split(total, SIZE)[RANK])
    group = tuple(int(one) for one in rng.permutation(SIZE)[: rng.integers(1, SIZE + 1)])
    if RANK in group:
        agree(rank.exchange(Call("HcomAllReduce", group, "sum"), [own]), reduced([arrays[one] for one in group], "sum"))


def exchanges(rng: np.random.Generator) -> None:
    """Parts of any length, and messages that both sides send before they receive."""
    counts = rng.integers(0, [6, 4000][rng.integers(2)], (SIZE, SIZE))
    data = [rng.standard_normal(int(row.sum())).astype("float32") for row in counts]
    starts = np.cumsum(counts, axis=1) - counts
    parts = [[data[a][starts[a, b] :][: counts[a, b]] for a in WORLD] for b in WORLD]
    agree(rank.exchange(Call("HcomAllToAllVC", WORLD), [data[RANK], counts]), np.concatenate(parts[RANK]))
    places = np.cumsum(counts[:, RANK]) - counts[:, RANK]
    numbers = [counts[RANK], starts[RANK], counts[:, RANK], places]
    agree(rank.exchange(Call("HcomAllToAllV", WORLD), [data[RANK], *numbers]), np.concatenate(parts[RANK]))
    left, right = (RANK - 1) % SIZE, (RANK + 1) % SIZE
    letters = [np.full(300_000, one, "int32") for one in WORLD]
    rank.exchange(Call("HcomSend", (RANK, right), tag=5), [letters[RANK]])
    agree(rank.exchange(Call("HcomReceive", (left, RANK), tag=5), [letters[RANK]]), letters[left])


def listening() -> list[tuple[str, int]]:
    """Addresses and ports at which this process listens.  Source: the columns of /proc/net/tcp in proc(5)."""
    links = [os.readlink(f"/proc/self/fd/{entry.name}") for entry in os.scandir("/proc/self/fd") if entry.is_symlink()]
    own = {link[len("socket:[") : -1] for link in links if link.startswith("socket:")}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    places = [row[1].rpartition(":") for row in rows if row[3] == "0A" and row[9] in own]
    return [(address, int(port, 16)) for address, _, port in places]


def disturb() -> None:
    """Strangers at MPI's own port, as another user of the machine may be: noise, half a greeting, a flood of connections."""
    ports = listening()
    assert {address for address, _ in ports} == {"0100007F"}, ports  # 127.0.0.1, and nowhere else
    for _, port in ports:
        for words in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(1 << 20), b"\0" * 4096, b"\xff" * 300):
            with socket.create_connection(("127.0.0.1", port)) as link, suppress(OSError):
                link.sendall(words)
        kept = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
        rank.exchange(SUM, [np.ones(100_000, np.float32)])
        for link in kept:
            link.close()


def main() -> None:
    os.environ["SET_MEANWHILE"] = "by the script"
    if WHAT == "all":
        for seed in range(int(sys.argv[5])):
            collectives(np.random.default_rng(seed))
            exchanges(np.random.default_rng(seed))
        assert os.environ["SET_MEANWHILE"] == "by the script" and not [name for name in os.environ if name.startswith("PMI_")]
        return
    x = np.ones(3_000_000, np.float32)
    rank.exchange(SUM, [x])
    is_odd = RANK == 1
    if WHAT == "disturbed":
        disturb()
        agree(rank.exchange(SUM, [x]), x * SIZE)
        return
    if WHAT == "killed" and is_odd:
        os.kill(os.getpid(), signal.SIGKILL)
    if WHAT == "killed in the middle" and is_odd:

        def kill() -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        rank._mpi.library().move = lambda *_: kill()  # let through, and gone before a byte is sent
    if WHAT == "early" and is_odd:
        rank.finish()
        return
    if WHAT == "late" and is_odd:
        time.sleep(60)
    call = Call("HcomAllReduce", WORLD, "max") if WHAT == "operation" and is_odd else SUM
    x = x[:7] if WHAT == "shape" and is_odd else x.astype("int32") if WHAT == "type" and is_odd else x
    print(rank.exchange(call, [x])[:1])


try:
    main()
    rank.finish()
except FailedPrecondition as error:
    sys.exit(str(error))
