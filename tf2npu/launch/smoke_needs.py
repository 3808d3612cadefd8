"""The arguments, files and modules that a script of a smoke run missed, as it says itself, and what is made of them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npu_formats.documents.smoke_request import ATTEMPT, PROJECT
from tf2npu.report.runs.record import RunRecord
from tf2npu.report.work.smoke_runs import missing_argument, missing_file, missing_module

_MOST_LINES = 4
"""Last lines of a script's output that are taken for the message of its error."""
_MOST_NEEDS = 3
"""Files that are named of those that a script misses: those that it asked for last, one of which has stopped it."""
_NAMES_A_PLACE = re.compile(
    r"(?i)(dir|path|file|folder|data|out|log|model|save|ckpt|checkpoint|root|train|test|valid|vocab|corpus)"
)
"""Names of arguments that take a file or a folder."""
_REQUIRED = (
    re.compile(r"the following arguments are required: (.+)"),
    re.compile(r"[Ff]lag --?([\w-]+)(?:=None)? must (?:have a value|be specified)|Flag (--[\w-]+) must have a value"),
    re.compile(r"argument (--?[\w-]+(?:/--[\w-]+)*) is required"),
)
_ABOUT_FILES = re.compile(
    r"(?i)no such file|not exist|n't exist|not found|can't find|cannot find|missing|NotFound|NotADirectory|IOError"
    r"|os\.path|exists\("
)
"""Words of a script that ends because a file is not there."""
_DECLARED = re.compile(r"""(?:add_argument|DEFINE_\w+|add_option)\(\s*(?:['"]-\w['"]\s*,\s*)?['"](?:--)?([\w-]+)['"]""")
"""The declaration of an option of a script, with its name."""
_NOT_THERE = re.compile(r"FileNotFoundError: .*?(?:No such file or directory: '([^']+)'|unable to open file: name = '([^']+)')")
"""The error of Python, and that of HDF5, for a file that is not there."""
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


@dataclass
class SmokeResult:
    """The outcome of one script.

    made: the record of its run, None where it left none.  state: what it told of itself.  code: its exit code.  needs: what it
    missed and could not be made.  is_cut: its time was over.  last_words: the end of what it printed.
    arguments: that were added to its own.  source: its text.
    """

    script: str
    made: RunRecord | None = None
    state: dict[str, Any] = field(default_factory=dict)
    code: int = 0
    needs: list[str] = field(default_factory=list)
    is_cut: bool = False
    seconds: float = 0.0
    last_words: str = ""
    arguments: list[str] = field(default_factory=list)
    source: str = ""


def add_missing(result: SmokeResult, asked: dict[str, str], added: list[str]) -> bool:
    """Add what a script missed; False where that is nothing new."""
    if _NO_MODULE.search(result.last_words):
        return False
    arguments = [
        name for name in dict.fromkeys([*required_arguments(result.last_words), *named_options(result)]) if name not in added
    ]
    if values := [(name, value) for name in arguments if (value := _value_of(name, result.last_words))]:
        for name, value in values:
            added += [name, value] if name.startswith("-") else [value]
        return True
    if not _ABOUT_FILES.search(result.last_words):
        return False
    missing = [(path, how) for path, how in result.state.get("missing", ()) if path not in asked]
    spoken_of = [one for one in missing if one[0] in result.last_words or os.path.basename(one[0]) in result.last_words]
    strong = [one for one in missing if one[1] != "exists"]
    for found in (spoken_of, strong, missing):
        if found:
            asked[found[-1][0]] = found[-1][1]
            return True
    return False


def needs_root(result: SmokeResult, project: Path) -> bool:
    """Whether a script imports a package of its own project that people install first."""
    module = _NO_MODULE.search(result.last_words)
    root = module[1].partition(".")[0] if module else ""
    return bool(root) and ((project / root).is_dir() or (project / f"{root}.py").is_file())


def _value_of(name: str, text: str) -> str:
    """A made-up value of an argument: one of its choices, which is to train, or a place; "" where nothing tells."""
    choices = re.search(re.escape(name) + r" (?:[A-Z_]+ )?\{([\w,.\s-]+)\}", text)
    if choices:
        found = [choice.strip() for choice in choices[1].split(",")]
        return next((choice for choice in found if choice.lower().startswith("train")), found[0])
    return f"smoke/{name.lstrip('-')}" if _NAMES_A_PLACE.search(name) else ""


def named_options(result: SmokeResult) -> list[str]:
    """The options of a script, as its text declares them, that name a place and that the error which ended it speaks of."""
    words = set(re.findall(r"\w+", " ".join(_error_lines(result.last_words)))) if result.code else set()
    declared = _DECLARED.findall(result.source)
    return [f"--{name}" for name in dict.fromkeys(declared) if name.replace("-", "_") in words and _NAMES_A_PLACE.search(name)]


def _error_lines(text: str) -> list[str]:
    """The message of the error that ended a script: what follows the last line of its traceback."""
    lines = [line for line in text.splitlines() if not line.startswith(("tf2npu run:", "npu_runtime:"))]
    return [line for line in lines[-_MOST_LINES:] if not line.startswith((" ", "Traceback"))]


def required_arguments(text: str) -> list[str]:
    """The arguments that a script says it requires, at the end of what it prints."""
    found = []
    for pattern in _REQUIRED:
        for match in pattern.finditer(text):
            names = next(filter(None, match.groups()), "")
            found += [name.strip().split("/")[-1] for name in names.split(",")]
    return [name if name.startswith("-") or pattern is _REQUIRED[0] else f"--{name}" for name in dict.fromkeys(found) if name]


def needs_of(result: SmokeResult) -> list[str]:
    """The things that the script missed, in words."""
    module = _NO_MODULE.search(result.last_words)
    if module:
        return [missing_module(module[1])]
    arguments = required_arguments(result.last_words)
    if arguments:
        return [missing_argument(name) for name in arguments]
    if found := _NOT_THERE.search(result.last_words):
        return [missing_file(next(filter(None, found.groups())))]
    paths = [
        path for path, how in result.state.get("missing", ()) if how != "exists" or os.path.basename(path) in result.last_words
    ]
    return [missing_file(_shown(path)) for path in dict.fromkeys(paths[-_MOST_NEEDS:])]


def _shown(path: str) -> str:
    """A path as the user knows it, from the project's folder or from their home."""
    return path.removeprefix(PROJECT).replace(f"{ATTEMPT}home/", "~/")


def finds_from_its_folder(result: SmokeResult, project: Path) -> bool:
    """Whether a file that a script missed, or that was made up for it, is there for one that is started in its own folder."""
    folder = os.path.dirname(result.script)
    state = result.state
    paths = [
        *(one[0] for one in (*state.get("missing", ()), *state.get("texts", ()))),
        *(one["path"] for one in state.get("made", ())),
    ]
    named = [path.removeprefix(PROJECT) for path in paths if not path.removeprefix(PROJECT).startswith(("/", ATTEMPT))]
    return bool(folder) and any("." in path and (project / folder / path).exists() for path in named)


def may_be_elsewhere(result: SmokeResult) -> bool:
    """Whether a script failed over a file or a module that it may find from its own folder."""
    words = result.last_words
    return result.code != 0 and bool(result.state.get("missing") or "No such file" in words or _NO_MODULE.search(words))
