"""The `python3` that a launcher of `tf2npu run` finds: it runs Python as asked, and notes that it has begun and how it ended.

    python -I interpreter.py NOTES ARGS        NOTES: a folder.  ARGS: the interpreter's own

A file named by the number of this process has the rank in its first line and, when it is over, the exit code in its second:
launchers wait for their ranks and do not look at how they ended. Nothing but the standard library is imported, as this runs
beside each rank.
"""

import os
import signal
import subprocess
import sys

STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
"""The folder whose sitecustomize a started process imports."""
_HANDED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)


def main() -> int:
    """Returns the exit code as a shell has it."""
    notes, arguments = sys.argv[1], sys.argv[2:]
    note = os.path.join(notes, str(os.getpid()))
    rank = os.environ.get("RANK_ID", "")
    _write(note, f"{rank}\n")
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([STARTUP, *([inherited] if inherited else [])])
    process = subprocess.Popen([sys.executable, *arguments], env={**os.environ, "PYTHONPATH": path})
    for number in _HANDED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda number, _: process.send_signal(number))
    code = process.wait()
    code = code if code >= 0 else 128 - code
    _write(note, f"{rank}\n{code}\n")
    return code


def _write(path: str, text: str) -> None:
    """Whole or not at all."""
    draft = f"{path}.draft"
    with open(draft, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(draft, path)


if __name__ == "__main__":
    sys.exit(main())
