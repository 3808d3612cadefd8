"""Processes of Python that begin with TensorFlow or the converter imported: a server does so once, and forks for each program.

A process that does nothing but import TensorFlow takes 2 s of a core; a fork of one that has done so takes milliseconds. Its
state is as clean: TensorFlow makes its thread pools with the first session, and OpenBLAS, which has threads by then, stops and
starts them around a fork (`pthread_atfork`). What a program sees is what `python` shows it, but for five things: TensorFlow is
in `sys.modules` before its first line, the hash seed is the server's, so are the variables that the interpreter and libraries
read while they are loaded, and gc.freeze and gc.unfreeze do nothing. SIGINT is never ignored, though a shell starts a job of its
background so. Tests of the import itself, of process groups and of
terminals start `python`.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

MESSAGE_BYTES = 1 << 17
"""The longest request, in bytes: programs and environments of tests are below 20 kB, and Linux sends packets of 200 kB whole."""
SECONDS = 600.0
"""Seconds that a program may run. Those of the tests take seconds; a busy machine makes minutes of them."""
READ_WHILE_LOADED = ("TF_", "PYTHON", "CUDA_", "OMP_", "MKL_", "OPENBLAS_", "LD_", "LANG", "LC_")
"""Beginnings of variables that the interpreter or a library reads only once: programs with other values get another server."""
COMMAND = "import sys; from tf2npu.cli import main; sys.exit(main())"
"""Program of the installed command's script."""
TENSORFLOW, CONVERTER, TORCH = "tensorflow", "converter", "torch"
"""Libraries, one of which a server loads before it forks."""
CONVERTER_COMMANDS = frozenset({"convert", "scan", "report", "undo", "api", "rules"})
"""Commands that import no TensorFlow; loading the converter, its rules and its pages takes 1 s of a core."""


def python(
    words: Sequence[object], environment: Mapping[str, str], folder: Path | None = None, text: str = "", loaded: str = TENSORFLOW
) -> subprocess.CompletedProcess[str]:
    """Runs `python WORDS...` in a fork, words being -c and a source or the path of a script, each with its arguments.

    text: the program's standard input.  loaded: TENSORFLOW, or TORCH with the simulated device of PyTorch.
    Returns exit code (minus the number of a signal), stdout and stderr.
    """
    source, *arguments = map(str, words)
    program = {"source": arguments.pop(0)} if source == "-c" else {"script": source}
    return _server(environment, loaded).run({**program, "argv": [source, *arguments]}, environment, folder, text)


def tf2npu(
    words: Sequence[object], environment: Mapping[str, str], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the installed command in a fork, which has TensorFlow or the converter loaded."""
    return _command(words, environment, folder, CONVERTER if str(words[0]) in CONVERTER_COMMANDS else TENSORFLOW)


def converter(words: Sequence[object], environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the installed command in a fork of a process that has no TensorFlow."""
    return _command(words, environment, folder, CONVERTER)


def _command(
    words: Sequence[object], environment: Mapping[str, str], folder: Path | None, loaded: str
) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("tf2npu")
    program = {"source": COMMAND, "argv": [str(command), *map(str, words)], "first": str(command.parent)}
    return _server(environment, loaded).run(program, environment, folder, "")


class Forked:
    """A program in a fork that goes on beside this process, as subprocess.Popen has it.  log: a file that it prints into."""

    def __init__(
        self, program: dict[str, Any], environment: Mapping[str, str], log: BinaryIO, folder: Path | None = None
    ) -> None:  # fmt: skip
        self._forks = _server(environment)
        with open(os.devnull, "rb") as nothing:
            streams = [nothing.fileno(), log.fileno(), log.fileno()]
            self._process = self._forks.begin(program, environment, folder, streams)
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Raises: subprocess.TimeoutExpired."""
        if self._code is None:
            try:
                self._code = self._forks.answer(timeout)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(str(self._process), timeout or 0.0) from None
        return self._code

    def poll(self) -> int | None:
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Let a smoke run end in order."""
        os.kill(self._process, signal.SIGRTMIN)

    def kill(self) -> None:
        os.kill(self._process, signal.SIGKILL)


def _server(environment: Mapping[str, str], loaded: str = TENSORFLOW) -> ForkServer:
    early = {name: value for name, value in environment.items() if name.startswith(READ_WHILE_LOADED)}
    return _started(tuple(sorted(early.items())), loaded)


@functools.cache
def _started(environment: tuple[tuple[str, str], ...], loaded: str) -> ForkServer:
    return ForkServer(dict(environment), loaded)


class ForkServer:
    """The server of one environment. It ends when its socket is closed, at the latest by the end of this process.

    loaded: TENSORFLOW, CONVERTER or TORCH.
    """

    def __init__(self, environment: Mapping[str, str], loaded: str) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - the server writes into it as long as it lives
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(number), loaded], env=dict(environment), cwd="/", pass_fds=[number],
                stdin=subprocess.DEVNULL, stdout=self._said, stderr=self._said,
            )  # fmt: skip

        atexit.register(self.close)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()

    def run(self, program: dict[str, Any], environment: Mapping[str, str], folder: Path | None, text: str) -> Any:
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(text.encode())
            given.seek(0)
            process = self.begin(program, environment, folder, [stream.fileno() for stream in (given, out, err)])
            code = self._exit_code(process, program["argv"])
            written = []
            for stream in (out, err):
                stream.seek(0)
                written.append(stream.read().decode())
        return subprocess.CompletedProcess(program["argv"], code, *written)

    def begin(
        self, program: dict[str, Any], environment: Mapping[str, str], folder: Path | None, streams: Sequence[int]
    ) -> int:  # fmt: skip
        """Start a program; the next answer is its exit code, and until then the server takes no other.  Returns: its process."""
        request = {**program, "environment": dict(environment), "folder": str(folder or Path.cwd())}
        socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
        return self.answer(None)

    def _exit_code(self, process: int, words: list[str]) -> int:
        try:
            return self.answer(SECONDS)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            self.answer(None)
            raise subprocess.TimeoutExpired(words, SECONDS) from None

    def answer(self, seconds: float | None) -> int:
        """The server's next number.  Raises: TimeoutError; BlockingIOError where `seconds` is 0."""
        self._socket.settimeout(seconds)
        answer = self._socket.recv(MESSAGE_BYTES)
        if not answer:
            self._said.seek(0)
            raise RuntimeError(f"the server has ended with exit code {self._process.wait()}: {self._said.read()!r}")
        return int(answer)


def _next_program(requests: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Forks for every request, tells the asker the process and its exit code, and returns in the new process only."""
    while True:
        request, streams, _, _ = socket.recv_fds(requests, MESSAGE_BYTES, 3)
        if not request:
            os._exit(0)
        process = os.fork()
        if not process:
            requests.close()
            return json.loads(request), streams
        for stream in streams:
            os.close(stream)
        requests.send(str(process).encode())
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())


def _become(program: dict[str, Any], streams: list[int], set_by_import: Mapping[str, str]) -> None:
    """Makes this process what `python` would make of the program before its first line."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update({**set_by_import, **program["environment"]})
    gc.freeze = gc.unfreeze = _nothing
    os.chdir(program["folder"])
    sys.argv[:] = program["argv"]
    script = os.path.abspath(program["script"]) if "script" in program else ""
    sys.path[0] = program.get("first", os.path.dirname(os.path.realpath(script)) if script else "")
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={}, **({"__file__": script} if script else {}))
    sys.modules["__main__"] = main
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _nothing() -> None:
    """Stands for gc.freeze and gc.unfreeze, which npu_bridge calls behind its import: what the server froze stays so."""


def _execute(program: dict[str, Any]) -> None:
    """Runs the program as its own `__main__`; tracebacks begin with its frames."""
    try:
        source = program.get("source") or Path(program["script"]).read_bytes()
        main = sys.modules["__main__"].__dict__
        exec(compile(source, main.get("__file__", "<string>"), "exec", dont_inherit=True), main)
    except SystemExit:
        raise
    except BaseException as error:
        ours = error.__traceback__
        assert ours is not None
        sys.excepthook(type(error), error.with_traceback(ours.tb_next), ours.tb_next)
        sys.exit(1)


def _load(what: str) -> None:
    if what == TENSORFLOW:
        import tensorflow  # noqa: F401
    elif what == TORCH:
        import torch
        import torch_npu  # noqa: F401

        torch.set_num_threads(1)
    else:
        from tf2npu.commands import convert  # noqa: F401
        from tf2npu.report import writer  # noqa: F401
        from tf2npu.rules import all_rules

        all_rules()


if __name__ == "__main__":
    given = dict(os.environ)
    _load(sys.argv[2])

    added = {name: value for name, value in os.environ.items() if name not in given}
    gc.collect()
    gc.freeze()  # else each program's end walks through all that TensorFlow made, which takes 0.7 s of a core
    asked = _next_program(socket.socket(fileno=int(sys.argv[1])))
    _become(*asked, added)
    _execute(asked[0])
