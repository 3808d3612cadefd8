"""The command in this process, with a cache and a state folder of its own."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from npu_formats.files.directory import Directory
from tf2npu import cli


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))


@pytest.fixture
def tool(capfdbinary, monkeypatch):
    """Run the command as `main` does, with `stdin` as its input; returns exit code, stdout and stderr."""

    def run(*words: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(word) for word in words])
            raise SystemExit(0)
        sys.stdout.flush()
        sys.stderr.flush()
        captured = capfdbinary.readouterr()
        code = stopped.value.code
        return Outcome(code or 0, captured.out.decode("utf-8", "surrogateescape"), captured.err.decode())

    return run


@pytest.fixture
def failing(monkeypatch):
    """Make an operation on files fail with an errno for paths with this last part; what is returned mends it."""

    def arrange(operation: str, name: str, number: int, argument: int = 0) -> Callable[[], None]:
        real = getattr(Directory, operation)

        def refusing(folder, *arguments, **options):
            if arguments[argument].rpartition("/")[2] == name:
                raise OSError(number, os.strerror(number), str(folder.path / arguments[argument]))
            return real(folder, *arguments, **options)

        monkeypatch.setattr(Directory, operation, refusing)
        return lambda: monkeypatch.setattr(Directory, operation, real)

    return arrange


SESSION = "import tensorflow as tf\n\nwith tf.Session() as sess:\n    print(sess)\n"


@pytest.fixture
def project(tmp_path) -> Path:
    """A small project: a script to convert, a module without TensorFlow, data, modes, links, an empty folder."""
    root = tmp_path / "src"
    (root / "pkg" / "empty").mkdir(parents=True)
    (root / "train.py").write_text(SESSION)
    (root / "pkg" / "__init__.py").write_text("")
    (root / "pkg" / "plain.py").write_text("x = 1\n")
    (root / "run.sh").write_text("#!/bin/sh\nexec python train.py\n")
    (root / "run.sh").chmod(0o750)
    (root / "data.bin").write_bytes(bytes(range(256)))
    (root / "alias.py").symlink_to("train.py")
    (root / "lib").symlink_to("pkg")
    return root


@pytest.fixture
def session_source() -> str:
    return SESSION
