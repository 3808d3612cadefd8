"""Broken and hostile messages between ranks and coordinator are told; nothing hangs or is read outside."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from npu_formats.ranks import connection
from npu_formats.ranks.connection import BrokenMessage, connect
from npu_runtime.collectives import authentication, run_folder, shm_transport
from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.communicator import Communicator
from npu_runtime.collectives.coordinator import Coordinator
from npu_runtime.collectives.shm_transport import Inbox, Outbox
from npu_runtime.errors import FailedPrecondition, InvalidArgument

ALONE = Call("HcomAllReduce", (0,), "sum")
LARGE = np.arange(30_000, dtype=np.float32)


@pytest.fixture
def running(tmp_path):
    made = Coordinator(tmp_path)
    yield made
    made.close()


def key_of(running: Coordinator) -> bytes:
    return bytes.fromhex(running.address.partition("|")[0])


def stranger(running: Coordinator) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.connect(str(Path(running.address.partition("|")[2]) / connection.SOCKET))
    link.settimeout(20)
    return link


def is_hung_up(link: socket.socket) -> bool:
    try:
        return link.recv(1) == b""
    except ConnectionResetError:
        return True


def threads() -> int:
    return sum(thread.name == "group of ranks" for thread in threading.enumerate())


def wait_until(is_so, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def works(running: Coordinator) -> None:
    result = Communicator(running.address, 0).exchange(ALONE, [np.ones(3)])
    np.testing.assert_array_equal(result, np.ones(3))


def test_garbage_leaves_no_thread_and_ranks_go_on(running):
    before = threads()
    for number in range(50):
        with stranger(running) as link:
            link.sendall(os.urandom(1 + 37 * number))
    wait_until(lambda: threads() == before)
    works(running)


def test_silent_connections_hold_nobody_up_and_are_not_kept(running, monkeypatch):
    monkeypatch.setattr(connection, "HELLO_SECONDS", 0.5)
    monkeypatch.setattr(authentication, "MOST_UNKNOWN", 8)
    monkeypatch.setattr(authentication, "ANSWER_SECONDS", 0.1)
    before = threads()
    silent = [stranger(running) for _ in range(20)]
    works(running)
    wait_until(lambda: threads() <= before + 1)
    assert all(map(is_hung_up, silent))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (struct.pack("<IQ", 2**32 - 1, 0), "a header of 4294967295 bytes"),
        (struct.pack("<IQ", 2, 2**63) + b"[]", "a message of 9223372036854775822 bytes"),
        (struct.pack("<IQ", 4, 0) + b"junk", "a header that is no JSON"),
        (struct.pack("<IQ", 200_000, 0) + b"[" * 200_000, "a header that is no JSON"),
        (struct.pack("<IQ", 2, 0) + b"[]more", "more bytes than it says"),
        (struct.pack("<IQ", 7, 0) + b"[3,[0]]", "no rank and its group"),
        (struct.pack("<IQ", 11, 0) + b'[0,[0,"x"]]', "no rank and its group"),
    ],
)
def test_a_message_that_is_none_is_told(running, message, said):
    made = connect(Path(running.address.partition("|")[2]), key_of(running))
    made._link.sendall(message)
    (error, arrays), _ = made.receive()
    assert said in error and arrays == []
    works(running)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (["HcomAllReduce", "sum", -1, -1, []], "no call"),
        (["HcomAllReduce", "sum", "0", -1, [["<f4", [1]]]], "no call"),
        (["HcomAllReduce", "sum", -1, -1, [["<f4", [1]]]], "float32[1] at byte 0 of 0"),
        (["HcomAllReduce", "sum", -1, -1, [["|O", [1]]]], "no array"),
        (["HcomAllReduce", "sum", -1, -1, [["<f4", [1], "../secret", 0]]], "no array"),
    ],
)
def test_a_call_that_is_none_is_told(running, header, said):
    made = connect(Path(running.address.partition("|")[2]), key_of(running))
    made.send([0, [0]])
    made.receive()
    made.send(header)
    (error, _), _ = made.receive()
    assert said in error
    works(running)


def test_a_rank_whose_message_is_broken_learns_it(running, monkeypatch):
    monkeypatch.setattr(Outbox, "pack", lambda self, arrays: ([["<f4", [9]]], []))
    with pytest.raises(FailedPrecondition, match=r"broken message: float32\[9\] at byte 0 of 0"):
        Communicator(running.address, 0).exchange(ALONE, [np.ones(9, np.float32)])


def test_a_wait_longer_than_python_can(tmp_path, monkeypatch):
    monkeypatch.setenv("HCCL_EXEC_TIMEOUT", "9" * 30)
    made = Coordinator(tmp_path)
    made.leave(1, "has ended")
    with pytest.raises(FailedPrecondition, match="waits for rank 1"):
        Communicator(made.address, 0).exchange(Call("HcomAllReduce", (0, 1), "sum"), [np.ones(2)])
    made.close()


def test_a_folder_whose_name_is_too_long_for_a_socket(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir(0o700)
    made = Coordinator(folder)
    works(made)
    made.close()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_no_umask_opens_or_closes_what_a_run_shares(tmp_path, umask):
    before = os.umask(umask)
    try:
        made = Coordinator(tmp_path)
        outbox = Outbox(tmp_path, "rank0")
        outbox.pack([LARGE])
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    works(made)
    made.close()


class TestInbox:
    """Each of these ended the process by a signal, hung it, or gave it somebody else's bytes."""

    @pytest.fixture
    def packed(self, tmp_path):
        return Outbox(tmp_path, "rank0").pack([LARGE])[0]

    def test_what_was_packed(self, tmp_path, packed):
        np.testing.assert_array_equal(Inbox(tmp_path).unpack(packed, memoryview(b""))[0], LARGE)

    @pytest.mark.parametrize(
        "change",
        [
            lambda item: [*item[:3], 1 << 62],
            lambda item: [*item[:3], -64],
            lambda item: [*item[:3], True],
            lambda item: [item[0], [30_001], *item[2:]],
            lambda item: [item[0], [-1], *item[2:]],
            lambda item: [item[0], [1 << 40, 1 << 40], *item[2:]],
            lambda item: [item[0], [1] * 100, *item[2:]],
            lambda item: ["<f8", *item[1:]],
            lambda item: ["O", *item[1:]],
            lambda item: ["<f4,<f4", *item[1:]],
            lambda item: [*item[:2], "/etc/passwd", 0],
            lambda item: [*item[:2], "..", 0],
            lambda item: [*item[:2], "a\0b", 0],
            lambda item: item[:3],
            lambda item: item[:1],
            lambda item: "text",
        ],
    )
    def test_a_place_that_is_not_in_the_file(self, tmp_path, packed, change):
        with pytest.raises(BrokenMessage):
            Inbox(tmp_path).unpack([change(packed[0])], memoryview(b""))

    @pytest.mark.parametrize("kind", ["pipe", "link", "folder", "socket", "absent"])
    def test_a_name_that_is_no_file(self, tmp_path, packed, kind):
        name = packed[0][2]
        path = tmp_path / name
        os.rename(path, tmp_path / "elsewhere")
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "link":
            path.symlink_to(tmp_path / "elsewhere")
        elif kind == "folder":
            path.mkdir()
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as link:
                link.bind(str(path))
        begun = time.monotonic()
        with pytest.raises(OSError):
            Inbox(tmp_path).unpack(packed, memoryview(b""))
        assert time.monotonic() - begun < 60

    def test_an_empty_file(self, tmp_path, packed):
        os.truncate(tmp_path / packed[0][2], 0)
        with pytest.raises(BrokenMessage, match="empty"):
            Inbox(tmp_path).unpack(packed, memoryview(b""))

    def test_a_folder_where_others_can_write(self, tmp_path, packed):
        tmp_path.chmod(0o777)
        with pytest.raises(PermissionError, match="other users can write there"):
            Inbox(tmp_path).unpack(packed, memoryview(b""))


def test_a_name_that_is_taken_is_not_written_to(tmp_path, monkeypatch):
    """Then arrays go with the message."""
    monkeypatch.setattr(shm_transport.secrets, "token_hex", lambda n: "00")
    (tmp_path / "victim").write_bytes(b"as it was")
    (tmp_path / "rank0-00").symlink_to(tmp_path / "victim")
    packed, carried = Outbox(tmp_path, "rank0").pack([LARGE])
    assert packed == [["<f4", [30_000]]] and carried[0] is LARGE
    assert (tmp_path / "victim").read_bytes() == b"as it was"


def test_objects_do_not_travel(tmp_path):
    with pytest.raises(InvalidArgument, match="tensors of object do not travel between ranks"):
        Outbox(tmp_path, "rank0").pack([np.array([print])])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
def test_small_arrays_keep_their_shape(tmp_path, shape):
    brought = [np.full(shape, 7, np.int8), np.full(shape, 1.5)]
    packed, carried = Outbox(tmp_path, "rank0").pack(brought)
    message = memoryview(b"".join(array.tobytes() for array in carried))
    for got, sent in zip(Inbox(tmp_path).unpack(packed, message), brought, strict=True):
        assert got.dtype == sent.dtype and got.shape == sent.shape and got.tobytes() == sent.tobytes()


def test_names_that_are_ours():
    assert run_folder.is_plain("rank0-0f") and not any(map(run_folder.is_plain, ("", ".", "a/b", "a\n", "x" * 65)))


def test_a_connection_of_another_user_is_not_let_in(running, monkeypatch):
    """As if the folder had let it through."""
    monkeypatch.setattr(connection, "_is_other_user", lambda link: True)
    with stranger(running) as link:
        assert is_hung_up(link)
    with pytest.raises(PermissionError, match="another user listens there"):
        connect(Path(running.address.partition("|")[2]), key_of(running))
