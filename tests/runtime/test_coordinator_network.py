"""Who may come to a coordinator over the network: ranks that prove to have the job's key, and nobody else."""

from __future__ import annotations

import contextlib
import socket
import threading

import numpy as np
import pytest

from npu_runtime.collectives import network
from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.communicator import Communicator
from npu_runtime.collectives.coordinator import Coordinator
from npu_runtime.collectives.network import connect_to

KEY = b"k" * 32
ALONE = Call("HcomAllReduce", (0,), "sum")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return min(int(probe.getsockname()[1]), 65_000)


@pytest.fixture
def running(tmp_path):
    made = Coordinator(tmp_path, KEY, ("127.0.0.1", free_port()))
    yield made
    made.close()


def stranger(running: Coordinator) -> socket.socket:
    host, _, port = running.place.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def works(running: Coordinator) -> bool:
    rank = Communicator(f"{KEY.hex()}|/nowhere", 0, running.place)
    return bool((rank.exchange(ALONE, [np.arange(30_000.0)]) == np.arange(30_000.0)).all())


def test_it_listens_where_it_was_told_and_nowhere_else(running, tmp_path):
    assert running._listener.getsockname()[0] == "127.0.0.1" and works(running)
    other = Coordinator(tmp_path / "other", KEY, ("127.0.0.1", int(running.place.rpartition(":")[2])))
    assert other.place != running.place, "the next port that is free"
    other.close()


def test_without_several_machines_there_is_no_network_socket(tmp_path):
    made = Coordinator(tmp_path)
    assert (made._listener.family, made.place) == (socket.AF_UNIX, "")
    made.close()


def test_another_key_is_not_let_in_and_the_job_goes_on(running):
    with pytest.raises(OSError, match="its key, or its job, is another one"):
        connect_to(running.place, b"x" * 32)
    assert works(running)


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 64, b"\xff" * 100_000])
def test_strangers_get_no_answer(running, words):
    with stranger(running) as link:
        assert len(link.recv(64, socket.MSG_WAITALL if not words else 0)) == 32, "the challenge, which says nothing of the key"
        link.sendall(words)
        with contextlib.suppress(OSError):  # it may have hung up already
            link.shutdown(socket.SHUT_WR)
            assert link.recv(1) == b""
    assert works(running)


def test_what_was_heard_once_opens_nothing(running):
    """Every connection has a challenge of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []

    def relay() -> None:
        """Between a rank and the coordinator, both of which notice nothing."""
        with listener.accept()[0] as rank, stranger(running) as behind:
            rank.sendall(behind.recv(32, socket.MSG_WAITALL))
            heard.append(rank.recv(64, socket.MSG_WAITALL))
            behind.sendall(heard[0])
            rank.sendall(behind.recv(32, socket.MSG_WAITALL))

    thread = threading.Thread(target=relay)
    thread.start()
    connect_to(f"127.0.0.1:{listener.getsockname()[1]}", KEY).close()
    thread.join()
    with stranger(running) as link:
        link.recv(32, socket.MSG_WAITALL)
        link.sendall(heard[0])
        assert link.recv(1) == b""


def test_who_only_claims_to_be_the_coordinator_is_left():
    listener = socket.create_server(("127.0.0.1", 0))

    def claim() -> None:
        with listener.accept()[0] as link:
            link.sendall(b"n" * 32)
            link.recv(64, socket.MSG_WAITALL)
            link.sendall(b"d" * 32)

    threading.Thread(target=claim, daemon=True).start()
    with pytest.raises(PermissionError, match="who listens there has another key"):
        connect_to(f"127.0.0.1:{listener.getsockname()[1]}", KEY)


def test_who_says_nothing_is_not_waited_for(running, monkeypatch):
    monkeypatch.setattr(network, "HELLO_SECONDS", 0.2)
    with stranger(running) as link:
        link.recv(32, socket.MSG_WAITALL)
        assert link.recv(1) == b""
    assert works(running)


def test_a_file_of_the_ranks_machine_is_not_looked_for_here(running):
    line = connect_to(running.place, KEY)
    line.send([0, [0]])
    assert line.receive()[0] == ["", []]
    line.send(["HcomAllReduce", "sum", -1, -1, [["<f4", [3], "rank0-aa", 0]]])
    assert "a file of another machine" in line.receive()[0][0]
