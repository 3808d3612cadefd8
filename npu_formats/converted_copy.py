"""Lines of a script that was converted for one run, as lines of the user's own files: the copy goes with the run."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from types import TracebackType

from npu_formats.environment import TF2NPU_CONVERTED


def variable(copy: Path, root: Path) -> str:
    """The value of TF2NPU_CONVERTED.  copy: the folder that runs.  root: the user's, of which it was made."""
    return json.dumps({"copy": str(copy), "root": str(root)})


def users_line(file: str, line: int) -> str:
    """`file:line` of the user's file that a line was made of; of a line that was made of none, the one above it."""
    asked = os.environ.get(TF2NPU_CONVERTED)
    original = _original(file, asked) if asked else ""
    return f"{original}:{_line_before(original, file, line)}" if original else f"{file}:{line}"


def users_text(text: str) -> str:
    """A text, such as a traceback, whose places in the copy are those of the user's files."""
    asked = os.environ.get(TF2NPU_CONVERTED)
    if not asked:
        return text
    folders = json.loads(asked)
    inside = re.escape(folders["copy"]) + r"/[^\n\"':]+"
    text = re.sub(f'(?<=File ")({inside})", line ([0-9]+)', _in_traceback, text)
    text = re.sub(f"({inside}):([0-9]+)", lambda found: users_line(found[1], int(found[2])), text)
    return text.replace(str(folders["copy"]), str(folders["root"]))


def tell_users_places() -> None:
    """Let the error that ends this process name the user's files, where it runs a copy of them."""
    if os.environ.get(TF2NPU_CONVERTED):
        sys.excepthook = _told


def _told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.stderr.write(users_text("".join(traceback.format_exception(kind, error, trace))))


def _in_traceback(found: re.Match[str]) -> str:
    file, _, line = users_line(found[1], int(found[2])).rpartition(":")
    return f'{file}", line {line}'


@cache
def _original(file: str, asked: str) -> str:
    """The user's file, "" for one that has no copy."""
    folders = json.loads(asked)
    full = Path(os.path.abspath(file))
    original = Path(folders["root"], full.relative_to(folders["copy"])) if full.is_relative_to(folders["copy"]) else None
    return str(original) if original is not None and original.is_file() else ""


@cache
def _line_before(original: str, copy: str, line: int) -> int:
    before, after = (Path(name).read_bytes().splitlines() for name in (original, copy))
    for _, first, behind, begin, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if begin < line <= end:
            return max(1, min(first + line - begin, behind))
    return line
