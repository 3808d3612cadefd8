"""The process of a rank."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from tf2npu.ranks.cores import share_cores
from tf2npu.ranks.rank_output import Output

AS_COMMAND = """
import sys
sys.path[0] = sys.prefix
from tf2npu.ranks.orphans import end_with
end_with(int(sys.argv.pop(1)))
from tf2npu.cli import main
main()
"""
"""What `python -c` runs as the installed command, with the process that it ends with as its first word: nothing in the current
folder takes the place of a library."""


class Rank:
    """One process.  What ranks print has their number in front of each line, but for rank 0's.

    Rank 0 has the terminal itself: progress bars, questions and colours are as without a launcher, and a line of another rank may
    come in the middle of one of its own.  Where there is no terminal its lines come through the launcher as well, unchanged,
    and are whole.
    """

    def __init__(self, number: int, n_ranks: int, words: Sequence[str], shared: Mapping[str, str], output: Output) -> None:
        self.number = number
        own = dict.fromkeys(("RANK_ID", "DEVICE_ID", "ASCEND_DEVICE_ID", "DEVICE_INDEX"), str(number))
        environment = {"JOB_ID": "1", **os.environ, **shared, **own, "RANK_SIZE": str(n_ranks)}
        environment.pop("CM_WORKER_SIZE", None)  # says the same as RANK_SIZE, and both are an error
        command = [sys.executable, "-c", AS_COMMAND, str(os.getpid()), "run", *words]
        if number == 0:
            out, err = (_piped_unless_terminal(stream) for stream in (sys.stdout, sys.stderr))
            self.process = subprocess.Popen(command, env=environment, stdout=out, stderr=err)
        else:
            environment["PYTHONUNBUFFERED"] = "1"  # as a terminal would show it
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        output.add(self.process, number or None)
        share_cores(self.process.pid, number, n_ranks)

    def exit_code(self) -> int | None:
        """As a shell has it, None while the process runs."""
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code

    def stop(self, kind: int) -> None:
        """Send a signal, if the process is there to get it."""
        if self.process.poll() is None:
            self.process.send_signal(kind)

    def kill(self) -> None:
        """End the process, and wait until it has."""
        self.process.kill()
        self.process.wait()


def _piped_unless_terminal(stream: TextIO | None) -> int | None:
    return None if stream is None or stream.isatty() else subprocess.PIPE
