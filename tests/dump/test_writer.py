"""The thread that writes dumps ends its work whatever a job does: who waits for it would wait for ever."""

from __future__ import annotations

import sys
from threading import Thread

import pytest

from npu_runtime.observers.dump.writer import Writer


class _FullDisk:
    """A run log that cannot be written, because it lies on the disk that the dump has filled."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def _fail() -> None:
    raise KeyError("complex256")


def _end(writer: Writer) -> bool:
    waiting = Thread(target=writer.flush, daemon=True)
    waiting.start()
    waiting.join(20)
    return not waiting.is_alive()


def test_a_job_that_fails_is_told_and_the_next_one_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    writer, done = Writer(most_waiting_bytes=10), []
    for job in (_fail, lambda: done.append(1), lambda: done.append(2)):
        writer.put(job, 10)
    assert _end(writer)
    assert done == [1, 2]
    assert "a file could not be made: KeyError: 'complex256'; it is left out" in capsys.readouterr().err


def test_a_log_that_cannot_be_written_stops_no_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _FullDisk())
    writer, done = Writer(), []
    writer.put(lambda: sys.stderr.write("the disk is full") and None, 1)
    writer.put(lambda: done.append(1), 1)
    assert _end(writer)
    assert done == [1]
