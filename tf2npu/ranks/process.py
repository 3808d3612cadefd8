"""The processes that a launcher starts: a rank, or what stands for another host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TextIO

from npu_formats.ranks.cores import share_cores
from tf2npu.ranks.process_control import exit_code_of
from tf2npu.ranks.rank_output import Output

AS_COMMAND = """
import sys
sys.path[0] = sys.prefix
from tf2npu.ranks.orphans import end_with
end_with(int(sys.argv.pop(1)))
from tf2npu.cli import main
main()
"""
"""The program of `python -c` that acts as the installed command. Its first argument is the process that it ends with. Nothing in
the current folder takes the place of a library."""


class Process:
    """One that the launcher waits for.  number: its place.  label: what messages call it."""

    def __init__(self, number: int, label: str, process: subprocess.Popen[bytes]) -> None:
        self.number, self.label, self.process = number, label, process

    def exit_code(self) -> int | None:
        """The exit code as a shell has it, None while the process runs."""
        code = self.process.poll()
        return code if code is None else exit_code_of(code)

    def stop(self, kind: int) -> None:
        """Send a signal, if the process is there to get it."""
        if self.process.poll() is None:
            self.process.send_signal(kind)

    def kill(self) -> None:
        """End the process, and wait until it has."""
        self.process.kill()
        self.process.wait()


class Rank(Process):
    """One rank.  What ranks print has their number in front of each line, but for rank 0's.

    Rank 0 has the terminal itself: progress bars, questions and colours are as without a launcher, and a line of another rank may
    come in the middle of one of its own.  Where there is no terminal its lines come through the launcher as well, unchanged,
    and are whole.
    """

    def __init__(
        self, number: int, n_ranks: int, words: Sequence[str], shared: Mapping[str, str], output: Output, place: int | None = None
    ) -> None:
        """place: among the ranks of this machine, where there are others."""
        own = dict.fromkeys(("DEVICE_ID", "ASCEND_DEVICE_ID", "DEVICE_INDEX"), str(number if place is None else place))
        environment = {"JOB_ID": "1", **os.environ, **shared, **own, "RANK_ID": str(number), "RANK_SIZE": str(n_ranks)}
        environment.pop("CM_WORKER_SIZE", None)  # says the same as RANK_SIZE, and both are an error
        command = [sys.executable, "-c", AS_COMMAND, str(os.getpid()), "run", *words]
        if number == 0:
            out, err = (_piped_unless_terminal(stream) for stream in (sys.stdout, sys.stderr))
            process = subprocess.Popen(command, env=environment, stdout=out, stderr=err)
        else:
            environment["PYTHONUNBUFFERED"] = "1"  # as a terminal would show it
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        super().__init__(number, str(number), process)
        output.add(process, number or None)
        share_cores(process.pid, number, n_ranks)


class Host(Process):
    """The process here that stands for a host's part of the job.

    command: what starts it.  handed: what it reads first; its input stays open until it is to end.
    """

    def __init__(self, number: int, name: str, command: Sequence[str], handed: str) -> None:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        super().__init__(number, name, process)
        with suppress(BrokenPipeError):  # it has ended already, and its exit code says why
            assert process.stdin is not None
            process.stdin.write(handed.encode() + b"\n")
            process.stdin.flush()

    def stop(self, kind: int) -> None:
        """Close the line: ssh hands on no signals, and the other side ends with its input."""
        if self.process.stdin is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        if kind == signal.SIGKILL:
            super().stop(kind)


def _piped_unless_terminal(stream: TextIO | None) -> int | None:
    return None if stream is None or stream.isatty() else subprocess.PIPE
