"""A stranger between a rank and the coordinator can, without the key, hang up, and do nothing else."""

from __future__ import annotations

import hashlib
import socket

import numpy as np
import pytest

from npu_formats.ranks.connection import BrokenMessage
from npu_formats.ranks.network import connect_to
from npu_formats.ranks.sealed_connection import SealedConnection, Seals
from npu_runtime.collectives.coordinator import Coordinator
from tests.runtime.network_taps import tapped, translated

KEY = b"k" * 32
CHANGED = "a message that was changed or repeated on its way"


@pytest.fixture
def running(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = min(probe.getsockname()[1], 65_000)
    made = Coordinator(tmp_path, KEY, ("127.0.0.1", port))
    yield made
    made.close()


def ask(place: str) -> list:
    """A rank's question, and another one on the same connection, with what is answered."""
    line = connect_to(place, KEY, 5)
    try:
        line.send([0, [0]])
        first = line.receive()[0]
        line.send(["HcomAllReduce", "sum", -1, -1, [["<f8", [3]]]], [np.arange(3.0)])
        return [first, line.receive()[1].tobytes()]
    finally:
        line.close()


EXPECTED = [["", []], np.arange(3.0).tobytes()]


def test_a_port_before_the_coordinators_leads_nobody_astray(running):
    """The attack that worked: a relay at a port that ranks try first."""
    with tapped(running) as tap, pytest.raises(OSError, match="its key, or its job, is another one"):
        connect_to(tap.place, KEY, 5)
    assert not running._present and ask(running.place) == EXPECTED


def test_on_the_cable_what_is_passed_on_as_it_is_arrives(running, monkeypatch):
    with tapped(running) as tap:
        translated(monkeypatch, tap, running)
        assert ask(tap.place) == EXPECTED


def flipped(message: bytes, place: int) -> bytes:
    return message[:place] + bytes([message[place] ^ 1]) + message[place + 1 :]


@pytest.mark.parametrize("who", ["rank", "coordinator"])
@pytest.mark.parametrize("place", [0, 4, 11, 12, 27, 28, 40, -16, -1], ids=str)
def test_one_bit_anywhere_is_noticed(running, monkeypatch, who, place):
    with tapped(running) as tap:
        translated(monkeypatch, tap, running)
        tap.change = lambda from_whom, number, message: [
            flipped(message, place % len(message)) if (from_whom, number) == (who, 1) else message
        ]
        assert_refused(tap.place)


def assert_refused(place: str) -> None:
    """The rank does not take it, or the coordinator does not and says so."""
    try:
        first, second = ask(place)
    except (BrokenMessage, EOFError, OSError):
        return
    assert first == EXPECTED[0] and second == b"", "the coordinator's complaint has no result"


@pytest.mark.parametrize("who", ["rank", "coordinator"])
@pytest.mark.parametrize("kind", ["again", "older", "without end", "left out", "reflected", "swapped"])
def test_messages_come_once_in_their_order_and_whole(running, monkeypatch, who, kind):
    with tapped(running) as tap:
        translated(monkeypatch, tap, running)
        other = "coordinator" if who == "rank" else "rank"
        made = {
            "again": lambda message: [message, message],
            "older": lambda message: [tap.heard[who][-2]],
            "without end": lambda message: [message[:-1]],
            "left out": lambda message: [],
            "reflected": lambda message: [tap.heard[other][-1]],
            "swapped": lambda message: [message, tap.heard[who][-2]],
        }[kind]
        tap.change = lambda from_whom, number, message: made(message) if (from_whom, number) == (who, 1) else [message]
        if kind in ("again", "swapped"):  # the right one comes first; the next one finds what is too much
            line = connect_to(tap.place, KEY, 5)
            line._link.settimeout(5)
            line.send([0, [0]])
            line.receive()
            call = ["HcomAllReduce", "sum", -1, -1, [["<f8", [3]]]]
            line.send(call, [np.arange(3.0)])
            assert line.receive()[1].tobytes() == EXPECTED[1]
            with pytest.raises((BrokenMessage, EOFError, OSError)):
                line.send(call, [np.arange(3.0)])
                header, came = line.receive()
                assert came.tobytes() == b"" and CHANGED in header[0]
                raise EOFError
            line.close()
        elif kind in ("left out", "without end"):
            with pytest.raises((TimeoutError, EOFError)):
                patient_for_one_second(tap.place)
        else:
            assert_refused(tap.place)


def patient_for_one_second(place: str) -> None:
    line = connect_to(place, KEY, 5)
    line._link.settimeout(1)
    line.send([0, [0]])
    line.receive()
    line.send(["HcomAllReduce", "sum", -1, -1, [["<f8", [3]]]], [np.arange(3.0)])
    line.receive()


def test_what_another_connection_heard_is_worth_nothing_here(running, monkeypatch):
    with tapped(running) as tap:
        translated(monkeypatch, tap, running)
        ask(tap.place)
        recorded = list(tap.heard["rank"][1:])
        tap.change = lambda who, number, message: [recorded[number]] if who == "rank" else [message]
        assert_refused(tap.place)


def test_lengths_that_nobody_sealed_take_no_memory(running, monkeypatch):
    with tapped(running) as tap:
        translated(monkeypatch, tap, running)
        tap.change = lambda who, number, message: [b"\xff" * 12 + message[12:]]
        with pytest.raises((BrokenMessage, EOFError, OSError)):
            line = connect_to(tap.place, KEY, 5)
            line.send([0, [0]])
            assert CHANGED in line.receive()[0][0]


def test_the_next_call_says_what_was_noticed():
    ours, theirs = socket.socketpair()
    here = SealedConnection(ours, Seals(b"a" * 32), Seals(b"b" * 32))
    there = SealedConnection(theirs, Seals(b"c" * 32), Seals(b"a" * 32))
    here.send(["waiting"])
    assert there.receive()[0] == ["waiting"]
    there.send(["", []])
    with pytest.raises(BrokenMessage, match=CHANGED + ": somebody stands between the machines"):
        here.receive()


def test_a_seal_is_the_keyed_digest_of_its_number_and_the_bytes():
    seals = Seals(b"k" * 32)
    assert [seals.next(b"ab", b"c"), seals.next(b"abc")] == [
        hashlib.blake2b(number.to_bytes(8, "little") + b"abc", digest_size=16, key=b"k" * 32).digest() for number in (0, 1)
    ]
