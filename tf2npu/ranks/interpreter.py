"""The `python3` that a launcher of `tf2npu run` finds: it runs Python as asked, and says that it has begun and how it ended.

    python -I interpreter.py PIPE ARGS        PIPE: number of a descriptor that the launcher has handed down.  ARGS: Python's own

It says so in lines of "number of this process, exit code or nothing, rank". Launchers wait for their ranks and do not look at how
they ended. Nothing but the standard library is imported, as this runs beside each rank.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress

STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
"""The folder whose sitecustomize a started process imports."""
_HANDED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)
_MOST_BYTES = 256
"""Largest size of a line: less than what a pipe takes at once, so that those of several ranks do not mix."""


def main() -> int:
    """Returns the exit code as a shell has it."""
    pipe, arguments = int(sys.argv[1]), sys.argv[2:]
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([STARTUP, *([inherited] if inherited else [])])
    process = subprocess.Popen([sys.executable, *arguments], env={**os.environ, "PYTHONPATH": path})
    for number in _HANDED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda number, _: process.send_signal(number))
    _say(pipe, "")
    code = process.wait()
    code = code if code >= 0 else 128 - code
    _say(pipe, str(code))
    return code


def _say(pipe: int, code: str) -> None:
    rank = os.environ.get("RANK_ID", "").replace("\n", " ")
    line = f"{os.getpid()} {code} {rank}".encode("utf-8", "surrogateescape")
    with suppress(OSError):  # a script that closes what it does not know, or whose launcher was killed
        os.write(pipe, line[:_MOST_BYTES] + b"\n")


if __name__ == "__main__":
    sys.exit(main())
