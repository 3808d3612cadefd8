"""Lessons of a failed attempt: the error of a script tells of the lines that it wanted to read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from npu_formats.documents.smoke_request import OF_IMAGES
from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, read_at_most

Form = dict[str, Any]
"""The form of a made-up text, as npu_bridge._smoke.line_forms.LineForm has it."""
_FED = re.compile(r"Cannot feed value of shape (\([^)]*\)) for Tensor .*?which has shape '?(\([^)]*\))")
_MOST_COLUMNS = 5_000
_MOST_FILES = 300
"""Files of a project in which a list of names is looked for."""
_FRAME = re.compile(r'^  File "([^"]+)", line \d+, in .+\n(?:    (.+)\n)?', re.MULTILINE)
_SPLIT = re.compile(r"split\(\s*['\"]([^'\"]{1,3})['\"]")
_LIST = re.compile(r"[\[(]([^\[\]()]{0,4000}?)[\])]")
_STRING = re.compile(r"['\"]([^'\"\n]{1,60})['\"]")


def learn(last_words: str, lines: Sequence[Any], lessons: dict[str, Form], project: Path) -> bool:
    """Add what the error that ended a script tells of its lines; False where that is nothing new.

    lines: the texts that were made, in their order: the path, the form, the file of the script that reads it.
    """
    frames = [(file, source or "") for file, source in _FRAME.findall(last_words)]
    own = [source for file, source in frames if not file.startswith("/")]
    error = _error(last_words)
    if OF_IMAGES not in lessons and (fed := _FED.search(error)) and _wants_grey(*_shapes(fed)):
        lessons[OF_IMAGES] = {"n_channels": 1}
        return True
    for path, form, _ in _likely(lines, {file for file, _ in frames}):
        for pattern, rule in _RULES:
            found = pattern.search(error)
            changed = rule(found, form, own[-1] if own else "", project) if found else None
            if changed and any(form.get(key) != value for key, value in changed.items()):
                lessons[path] = {**lessons.get(path, {}), **changed}
                return True
    return False


def _error(text: str) -> str:
    """The message of the last error."""
    found = re.findall(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception)\b.*(?:\n(?!  File).+){0,3})", text, re.MULTILINE)
    return found[-1] if found else ""


def _likely(lines: Sequence[Any], files: set[str]) -> Iterator[tuple[str, Form, str]]:
    """The texts that the error may be about: those of the files that it came through first, and the last one that was made."""
    latest = list(reversed(lines))
    for is_near in (True, False):
        for path, form, file in latest:
            if (file in files) == is_near:
                yield path, form, file


def _columns(count: int, form: Form, *, is_least: bool = False) -> Form | None:
    if not 0 < count <= _MOST_COLUMNS or (is_least and form["n_columns"] >= count):
        return None
    return {"n_columns": count, "is_table": True}


def _unpacked(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    """A line is unpacked into a number of names."""
    split = _SPLIT.search(source)
    return {**(_columns(int(found[1]), form) or {}), **({"delimiter": _character(split[1])} if split else {})}


def _indexed(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    """An item of a line is taken by its number."""
    numbers = [int(number) for number in re.findall(r"\[(\d+)\]", source)]
    split = _SPLIT.search(source)
    delimiter = {"delimiter": _character(split[1]), "is_table": True} if split else {}
    return {**delimiter, **(_columns(max(numbers) + 1, form, is_least=True) or {})} if numbers else delimiter


def _of_axis(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    return _columns(int(found[1]) + 1, form, is_least=True)


def _reshaped(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    """All numbers of a table get a shape."""
    wanted = math.prod(int(size) for size in re.findall(r"\d+", found[2]))
    count, rest = divmod(form["n_columns"] * wanted, int(found[1]))
    return None if rest else _columns(count, form)


def _fed(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    """Rows are fed to a placeholder of another width."""
    given, wanted = _shapes(found)
    if len(given) != len(wanted) or not given or not wanted[-1].isdigit() or given[-1] == wanted[-1]:
        return None
    return _columns(form["n_columns"] + int(wanted[-1]) - int(given[-1]), form)


def _shapes(found: re.Match[str]) -> tuple[list[str], list[str]]:
    """The shape of a value that is fed, and that of its placeholder."""
    return re.findall(r"\d+", found[1]), re.findall(r"\d+|\?|None", found[2])


def _wants_grey(given: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether images of three colours are fed where those of one are wanted."""
    if len(given) < 3 or given[-1] != "3":
        return False
    return list(wanted[-1:]) == ["1"] or (len(wanted) == len(given) - 1 and wanted[-1] == given[-2])


def _equal(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    sizes = [int(found[1]), int(found[2])]
    if form["n_columns"] not in sizes:
        return None
    return _columns(sizes[1 - sizes.index(form["n_columns"])], form)


def _number(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    """A text is made a number: a word that is none, or several numbers that were not parted."""
    if not form["has_numbers"]:
        return {"has_numbers": True, "is_table": True}
    if form["names"] and any(name in found[1] for name in form["names"]):
        return {"names": []}
    split = _SPLIT.search(source)
    return {"delimiter": _character(split[1])} if split else {"delimiter": " "} if " " not in found[1] else _columns(1, form)


def _named(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    """A name is looked up: a column of a table, or a word of a list."""
    name = found[1]
    if not re.search(r"[A-Za-z]", name) or "/" in name:
        return None
    known = list(form["names"])
    new = [one for one in _beside(name, project) if one not in known]
    heads = {} if known else {"n_heads": 2}  # a list of names may stand below a line of its own
    return {"names": [*known, *new], "n_columns": max(len(known) + len(new), form["n_columns"]), **heads} if new else None


def _listed(found: re.Match[str], form: Form, source: str, project: Path) -> Form | None:
    """A cell of a column is parted again."""
    name, split = re.search(r"\[\s*['\"](\w+)['\"]\s*\]", source), _SPLIT.search(source)
    return {"lists": {**form["lists"], name[1]: _character(split[1]) if split else " "}} if name else None


def _beside(name: str, project: Path) -> list[str]:
    """The names of the lists of the project's code in which a name stands, itself first."""
    names = {name: None}
    for file in sorted(project.rglob("*.py"))[:_MOST_FILES]:
        try:
            text = read_at_most(file, MOST_SOURCE_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        if f"'{name}'" in text or f'"{name}"' in text:
            for found in _LIST.findall(text):
                strings = _STRING.findall(found)
                if name in strings and len(strings) > 1:
                    names |= dict.fromkeys(strings)
    return list(names)


def _character(text: str) -> str:
    return text.replace("\\t", "\t")


Rule = Callable[[re.Match[str], Form, str, Path], Form | None]
_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    (re.compile(r"too many values to unpack \(expected (\d+)"), _unpacked),
    (re.compile(r"not enough values to unpack \(expected (?:at least )?(\d+)"), _unpacked),
    (re.compile(r"IndexError: list index out of range"), _indexed),
    (re.compile(r"index (\d+) is out of bounds for axis 1 with size \d+"), _of_axis),
    (re.compile(r"cannot reshape array of size (\d+) into shape \(([\d, ]+)\)"), _reshaped),
    (_FED, _fed),
    (re.compile(r"Dimensions? (?:\d+ in both shapes )?must be equal, but are (\d+) and (\d+)"), _equal),
    (re.compile(r"along dimension 1, the array at index 0 has size (\d+) and the array at index 1 has size (\d+)"), _equal),
    (re.compile(r"(?:invalid literal for int\(\) with base 10|could not convert string to float): '(.*)'"), _number),
    (re.compile(r"KeyError: \"?'([^']+)'"), _named),
    (re.compile(r"KeyError: \"None of \[Index\(\['([^']+)'"), _named),
    (re.compile(r"'(?:float|int|numpy.int64)' object has no attribute 'split'"), _listed),
)
"""rule(found, form, line of the script, project) gives what changes of a form, None for nothing."""
