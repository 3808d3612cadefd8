"""The file into which a script under check writes its training steps; `training_steps` reads it."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npu_formats.files.directory import Directory
from npu_formats.user_frames import is_library

_MOST_TEXT = 1000
"""Characters of an error's message that are kept."""


class StepsFile:
    """path: of the file to write, which the first process of a script to make a step has.  n_steps: until the script is ended."""

    def __init__(self, path: Path, n_steps: int) -> None:
        self._path, self.n_left = path, n_steps
        self._process = os.getpid()
        self._failure: dict[str, Any] | None = None

    @classmethod
    def of_request(cls, request: Mapping[str, Any]) -> StepsFile:
        """The file that `tf2npu check` asks for, by what TF2NPU_CHECK holds."""
        return cls(Path(request["folder"]) / f"{request['role']}.jsonl", request["steps"])

    def watch_failure(self) -> None:
        """Keep the error that ends the script, for `end`."""
        hook = sys.excepthook

        def excepted(kind: type[BaseException], error: BaseException, trace: Any) -> None:
            places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
            file, line = next(((name, at) for name, at in reversed(places) if not is_library(name)), ("", 0))
            text = next(filter(None, map(str.strip, str(error).splitlines())), "")
            self._failure = {"type": kind.__name__, "text": text[:_MOST_TEXT], "file": file, "line": line}
            hook(kind, error, trace)

        sys.excepthook = excepted

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process is the one whose steps are written, and none that it has forked."""
        return os.getpid() == self._process

    def put(self, step: dict[str, Any]) -> None:
        """Write a step down; after the last one that is wanted, the process ends."""
        self._write({"step": step})
        self.n_left -= 1
        if self.n_left == 0:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    def end(self, **about: Any) -> None:
        """Write down that the script ended before its steps were all made.  about: fields of an Ending."""
        if self.is_of_this_process:
            self._write({"ending": {**about, "failure": self._failure}})

    def _write(self, line: dict[str, Any]) -> None:
        with Directory.given(self._path.parent) as folder, folder.appender(self._path.name) as stream:
            stream.write(json.dumps(line, allow_nan=False).encode() + b"\n")


def place_of(text: str) -> tuple[str, int]:
    """File and line of a text "file:line"."""
    file, _, line = text.rpartition(":")
    return file, int(line or 0)


def as_json(value: float | None) -> Any:
    """A number as JSON has it; what it has not is a text."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
