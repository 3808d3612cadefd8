"""Search of a rank for its coordinator among ports at which strangers listen too."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import socket
import threading
import time

import pytest

from npu_formats.files.directory import Directory
from npu_formats.ranks import network_rendezvous, rank_connection
from npu_formats.ranks.rank_connection import CannotMeet
from npu_formats.ranks.rank_environment import RankEnvironment
from npu_formats.ranks.servers import Servers
from npu_runtime.collectives.coordinator import Coordinator
from tests.how_many import some
from tests.runtime.network_taps import serve

KEY = "k" * 32
JOB = "a" * 32
DERIVED = hmac.digest(KEY.encode(), JOB.encode(), hashlib.sha256)
N_STRANGERS = len(some(range(15), 3))
"""All ports but the last one that ranks look at."""


def free_ports(count: int) -> int:
    """The first of so many ports in a row that are free."""
    for first in range(20_000, 30_000, count):
        with contextlib.ExitStack() as probes, contextlib.suppress(OSError):
            for port in range(first, first + count):
                probes.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
    raise AssertionError("no ports are free")


@pytest.fixture
def left(monkeypatch):
    """Attendance is kept until the process ends; here until the test does."""
    monkeypatch.setattr(rank_connection, "_keep", lambda line: monkeypatch.setattr(rank_connection, "_attendance", [line]))


def given(port: int, seconds: float = 60) -> RankEnvironment:
    return RankEnvironment(1, 2, JOB, seconds, Servers(("127.0.0.1", "127.0.0.1"), port, KEY))


def test_a_relay_at_the_first_port_is_passed_by(tmp_path, left):
    """Its stranger has no key; the coordinator went to the next port, and the rank believed the first that answered."""
    first = free_ports(16)
    with socket.create_server(("127.0.0.1", first)) as squatter:
        coordinator = Coordinator(tmp_path, DERIVED, ("127.0.0.1", first))
        heard: list[bytes] = []
        threading.Thread(target=serve, args=(squatter, coordinator.place, heard), daemon=True).start()
        rank = given(first)
        place, run = network_rendezvous._from_afar(rank, rank.servers, DERIVED)
        assert (place, run) == (f"127.0.0.1:{first + 1}", coordinator._run) and heard
        assert coordinator._present.keys() == {1}
        coordinator.close()


def test_strangers_who_say_nothing_take_little_time(tmp_path, left):
    first = free_ports(16)
    with contextlib.ExitStack() as squatters:
        for number in range(N_STRANGERS):
            squatters.enter_context(socket.create_server(("127.0.0.1", first + number)))
        coordinator = Coordinator(tmp_path, DERIVED, ("127.0.0.1", first))
        begun, rank = time.monotonic(), given(first)
        place, _ = network_rendezvous._from_afar(rank, rank.servers, DERIVED)
        assert place == f"127.0.0.1:{first + N_STRANGERS}" and time.monotonic() - begun < 2.7 * N_STRANGERS
        coordinator.close()


def test_strangers_alone_are_waited_for_as_long_as_the_user_says(left):
    first = free_ports(16)
    with socket.create_server(("127.0.0.1", first)):
        rank = given(first, seconds=2)
        with pytest.raises(CannotMeet, match=r"waits for rank 0 at 127.0.0.1, ports .*timed out.*2 s are over"):
            network_rendezvous._from_afar(rank, rank.servers, DERIVED)


def test_another_port_is_told(tmp_path, left, capsys, monkeypatch):
    first = free_ports(16)
    coordinators = []

    def start(size, seconds, key, network):
        coordinators.append(Coordinator(tmp_path / "files", key, network))
        return coordinators[-1].place

    monkeypatch.setattr(network_rendezvous, "start", start)
    with socket.create_server(("127.0.0.1", first)), Directory.given(tmp_path) as folder:
        rank = given(first)
        place, run = network_rendezvous._beside_the_chief(rank, rank.servers, folder, DERIVED)
    assert (place, run) == (f"127.0.0.1:{first + 1}", coordinators[0]._run)
    said = f"npu_bridge: port {first} of 127.0.0.1 is taken, so the coordinator of this job listens at {first + 1}"
    assert said in capsys.readouterr().err
    coordinators[0].close()


def test_an_answer_that_was_changed_on_its_way_is_no_answer(left):
    class Changed:
        def send(self, header):
            self.sent = header

        def receive(self):
            raise ValueError("a message that was changed")

        def close(self):
            self.sent = None

    line = Changed()
    assert rank_connection.attend(line, given(1)) == "" and line.sent is None
