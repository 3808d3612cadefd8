"""Guests of a coordinator over the network: ranks that prove to have the job's key, and nobody else."""

from __future__ import annotations

import contextlib
import resource
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from npu_formats.ranks import connection, network
from npu_formats.ranks.network import connect_patiently, connect_to
from npu_runtime.collectives import greeter
from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.communicator import Communicator
from npu_runtime.collectives.coordinator import Coordinator
from tests.runtime.network_taps import tapped, translated

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
    assert running.place.rpartition(":")[0] == "127.0.0.1" and works(running)
    other = Coordinator(tmp_path / "other", KEY, ("127.0.0.1", int(running.place.rpartition(":")[2])))
    assert other.place != running.place, "the next port that is free"
    other.close()


def test_without_several_machines_there_is_no_network_socket(tmp_path):
    made = Coordinator(tmp_path)
    assert made.place == "" and (tmp_path / "coordinator").is_socket()
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


def test_what_was_heard_once_opens_nothing(running, monkeypatch):
    """Every connection has a challenge of its own."""
    with tapped(running) as tap:
        translated(monkeypatch, tap, running)
        line = connect_to(tap.place, KEY)
        line.send(["waiting"])
        line.receive()
        heard = b"".join(tap.heard["rank"])
        line.close()
    with stranger(running) as link:
        link.recv(32, socket.MSG_WAITALL)
        link.sendall(heard)
        with contextlib.suppress(ConnectionResetError):
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
    monkeypatch.setattr(connection, "HELLO_SECONDS", 0.2)
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


FLOOD = """
import socket, sys, time
port, most, is_closing = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "closing"
links, until = [], time.monotonic() + 60
print("on", flush=True)
while time.monotonic() < until:
    try:
        link = socket.socket()
        link.setblocking(False)
        link.connect_ex(("127.0.0.1", port))
        links.append(link)
        if len(links) > most:
            links.pop(0).close() if is_closing else links.clear()
    except OSError:
        links = links[len(links) // 2 :]
"""


@pytest.mark.whole
@pytest.mark.parametrize(("most", "how"), [(400, "closing"), (900, "at once")])
def test_ranks_come_through_a_flood_of_strangers(running, most, how):
    """20 of 20, each with one greeting; 10 of 20 timed out when the oldest stranger went for every new one."""
    command = [sys.executable, "-c", FLOOD, running.place.rpartition(":")[2], str(most), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as flood:
        try:
            assert flood.stdout.readline() == "on\n"
            time.sleep(1)
            for _ in range(20):
                with contextlib.closing(connect_patiently(running.place, KEY, 60)) as line:
                    line.send(["waiting"])
                    assert line.receive()[0][0] == ""
        finally:
            flood.kill()
    assert works(running)


def test_strangers_of_one_address_put_out_no_others(running, monkeypatch):
    monkeypatch.setattr(greeter, "MOST_UNKNOWN", 8)
    monkeypatch.setattr(greeter, "ANSWER_SECONDS", 0.05)
    host, _, port = running.place.rpartition(":")
    with contextlib.ExitStack() as open_links:

        def come(source: str) -> socket.socket:
            return open_links.enter_context(socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0)))

        slow = come("127.0.0.2")
        assert len(slow.recv(32, socket.MSG_WAITALL)) == 32
        for many in [come("127.0.0.3") for _ in range(40)]:
            many.recv(32, socket.MSG_WAITALL)
        slow.settimeout(0.1)
        with pytest.raises(TimeoutError):
            slow.recv(1)
    assert works(running)


def test_strangers_cost_no_threads(running):
    before = threading.active_count()
    with contextlib.ExitStack() as open_links:
        for _ in range(100):
            open_links.enter_context(stranger(running)).recv(32, socket.MSG_WAITALL)
        assert threading.active_count() == before


def test_a_coordinator_without_descriptors_goes_on_when_it_has_some(running):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    link = stranger(running)
    link.recv(32, socket.MSG_WAITALL)
    waiting = socket.socket()
    resource.setrlimit(resource.RLIMIT_NOFILE, (waiting.fileno() + 1, hard))
    try:
        waiting.connect(link.getpeername())
        time.sleep(0.3)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    waiting.settimeout(20)
    assert len(waiting.recv(32, socket.MSG_WAITALL)) == 32 and works(running)
    waiting.close()
    link.close()


def test_a_rank_greets_again_until_its_time_is_over(running, monkeypatch):
    """One that was put out, or came too early to be answered, is no rank that failed."""
    tried = []

    def put_out_twice(address, key):
        tried.append(time.monotonic())
        if len(tried) < 3:
            raise ConnectionAbortedError("hung up")
        return connect_to(address, key)

    monkeypatch.setattr(network, "connect_to", put_out_twice)
    connect_patiently(running.place, KEY, 60).close()
    assert len(tried) == 3 and tried[2] - tried[1] > tried[1] - tried[0] > 0.04
    monkeypatch.setattr(network, "connect_to", lambda address, key: (_ for _ in ()).throw(TimeoutError("timed out")))
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        connect_patiently(running.place, KEY, 0.5)
    assert time.monotonic() - begun < 5
