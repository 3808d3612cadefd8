"""`--python2`: source that only Python 2 reads is brought to Python 3 first, as far as that is safe, and then converted.

The fixers are those of lib2to3 (in fissix, since Python 3.13 has lib2to3 no more) that keep the meaning of a program
whatever its values are. What they cannot know is a finding: above all whether a division is one of whole numbers.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tf2npu import file_findings
from tf2npu.config import Config
from tf2npu.engine import convert_file as engine
from tf2npu.engine.convert_file import FileFacts, ProjectFacts
from tf2npu.findings import Edit, FileResult, Finding, Level, Span, Status
from tf2npu.python2.divisions import open_divisions
from tf2npu.python2.fixers import (
    FIXERS_OF_BOTH,
    Refused,
    broken_for_both,
    divides_as_3,
    has_gone_builtins,
    python3_error,
    refactored,
)
from tf2npu.python2.imports import implicit_siblings, with_relative_imports
from tf2npu.python2.notebooks import modern_notebook
from tf2npu.python2.record_texts import texts_of_records
from tf2npu.scanner.console_scripts import is_project_settings
from tf2npu.scanner.known_modules import is_requirements
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.options.defaults import is_run_settings
from tf2npu.scanner.python2.constructs import VERSION_TESTS, explain_python2, is_for_python3
from tf2npu.scanner.syntax import parsed
from tf2npu.scanner.text.source import OR_PYTHON2, LineIndex, SourceError, decode

_MOST_NAMED = 10
"""The most places that one message names: more are not read."""


@dataclass(frozen=True)
class Modern:
    """A Python 2 source brought to Python 3. refusal: why nothing could be done, then `data` is the original."""

    data: bytes
    before: str = ""
    after: str = ""
    refusal: str = ""


def gather_facts(path: str, data: bytes) -> FileFacts:
    """`convert.gather_facts` for the source as it will be."""
    if is_notebook(path):
        notebook = modern_notebook(data)
        facts = engine.gather_facts(path, notebook.data if notebook else data)
        return facts if notebook is None else dataclasses.replace(facts, is_python2=True)
    is_data = is_project_settings(path) or is_requirements(path) or is_run_settings(path)
    modern = None if is_data else modernize(path, data)
    facts = engine.gather_facts(path, modern.data if modern else data)
    return dataclasses.replace(facts, is_python2=True) if modern is not None and not modern.refusal else facts


def convert_file(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    """`engine.convert_file`, with a Python 2 source brought to Python 3 before; findings name places of the original."""
    if is_notebook(path):
        return _convert_notebook(path, data, config, project)
    modern = modernize(path, data)
    if path in project.python2 and (modern is None or not modern.refusal):
        modern = _of_python2(path, data, project)
    if modern is None:
        return engine.convert_file(path, data, config, project)
    result = engine.convert_file(path, modern.data, config, project)
    if modern.refusal:
        for n, finding in enumerate(result.findings):
            result.findings[n] = dataclasses.replace(finding, message=finding.message.removesuffix(OR_PYTHON2))
        is_for_nobody = result.status is Status.COPIED and path not in project.reaching | project.reached
        result.findings.append(_of_refusal(modern.refusal, broken_for_both(data) if is_for_nobody else None))
        return result
    return _of_original(result, data, modern, project.unshared.get(path, frozenset()))


def _of_refusal(refusal: str, error: str | None) -> Finding:
    """A finding about a file that stays. error: what is wrong with a file that has no Python and takes no part."""
    if error is None:
        return file_findings.PYTHON2.finding(Level.MANUAL, f"--python2 cannot do this file: {refusal}")
    message = f"Neither Python 2 nor Python 3 reads this file ({error}). No script for TensorFlow imports it: it stays as it is."
    return file_findings.PYTHON2.finding(Level.INFO, message)


def _convert_notebook(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    modern = modern_notebook(data)
    result = engine.convert_file(path, data if modern is None else modern.data, config, project)
    if modern is None:
        return result
    findings = [dataclasses.replace(f, message=f.message.removesuffix(OR_PYTHON2)) for f in result.findings]
    blocks = {cell: _blocks(before, after) for cell, (before, after) in modern.cells.items()}
    findings = [dataclasses.replace(f, span=_moved(f.span, blocks[f.cell])) if f.cell in blocks else f for f in findings]
    for cell, (before, after) in modern.cells.items():
        lines = [_moved(Span(line, 1, line, 1), blocks[cell]).line for line in modern.divided.get(cell, ())]
        said = (*_fixed(Modern(b"", before, after), blocks[cell]), *_said_of_divisions(lines))
        findings += [dataclasses.replace(finding, cell=cell) for finding in said]
    for cell, refusal in modern.refusals.items():
        finding = file_findings.PYTHON2.finding(Level.MANUAL, f"--python2 cannot do this cell: {refusal}")
        findings.append(dataclasses.replace(finding, cell=cell))
    return _ended(dataclasses.replace(result, findings=findings), data, modern.data)


def _ended(result: FileResult, data: bytes, modern: bytes) -> FileResult:
    """The result with the original before it, and behind it what was converted or only brought to Python 3."""
    final = result.after if result.status is Status.CONVERTED else modern
    status = Status.CONVERTED if result.status is not Status.FAILED and final != data else result.status
    return dataclasses.replace(result, status=status, before=data, after=final)


def convert_file_as_it_is(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    """`engine.convert_file`, with a finding where a file of a Python 2 project means another thing to Python 3."""
    result = engine.convert_file(path, data, config, project)
    facts = project.files.get(path)
    if path not in project.python2 or facts is None:
        return result
    if facts.is_python2:
        if result.status is Status.COPIED and path in project.reached:
            message = "Only Python 2 reads this file, which a script for TensorFlow imports: convert with --python2."
            result.findings.append(file_findings.PYTHON2.finding(Level.MANUAL, message))
        return result
    lines = _read_otherwise(path, data, project)
    if lines:
        message = (
            f"{project.python2[path]} is Python 2, and so may this file be, which Python 3 reads in another way (lines: "
            f"{_named(lines)}): convert with --python2, or look at these lines yourself."
        )
        finding = file_findings.PYTHON2.finding(Level.MANUAL, message)
        result.findings.append(dataclasses.replace(finding, span=Span(lines[0], 1, lines[0], 1)))
    return result


def _read_otherwise(path: str, data: bytes, project: ProjectFacts) -> list[int]:
    """Lines of a file that both Pythons read and that may mean another thing to Python 3."""
    modern = _of_python2(path, data, project)
    if modern is None or modern.refusal:
        return []
    blocks = _blocks(modern.before, modern.after)
    changed = [line + 1 for tag, start, end, *_ in blocks if tag != "equal" for line in range(start, max(end, start + 1))]
    return sorted({*changed, *(_divided(modern, blocks, frozenset()) if not divides_as_3(modern.before) else ())})


@lru_cache(maxsize=32)
def modernize(path: str, data: bytes) -> Modern | None:
    """The source for Python 3; None for what Python 3 can read, and for a notebook, which notebooks.py does."""
    if is_notebook(path):
        return None
    try:
        text = decode(data).text
    except SourceError:
        return None  # the converter says what is wrong with it
    if python3_error(text) is None and not has_gone_builtins(text):
        return None
    try:
        after = refactored(text)
    except Refused as refused:
        return Modern(data, refusal=str(refused))
    return Modern(decode(data).encode(after), text, after)


def _of_python2(path: str, data: bytes, project: ProjectFacts) -> Modern | None:
    """The source of a file in a project that is Python 2: also where Python 3 reads it, and reads another thing."""
    modern = modernize(path, data) or _with_its_meaning(path, data)
    if modern is None or modern.refusal or path not in project.files:
        return modern
    after = with_relative_imports(modern.after, implicit_siblings(path, project))
    return Modern(decode(data).encode(after), modern.before, after)


@lru_cache(maxsize=32)
def _with_its_meaning(path: str, data: bytes) -> Modern | None:
    """A source that both read, as Python 3 has to read it to do what Python 2 did; None where it is not meant for Python 2.

    A file that asks for the version is written for both. What it prints is left: a tuple or several words, nobody can tell.
    """
    if is_notebook(path):
        return None
    try:
        text = decode(data).text
        if _is_for_python3(text):
            return None
        is_for_both = any(word in text for word in VERSION_TESTS)
        after = text if is_for_both else refactored(text, FIXERS_OF_BOTH)
    except (SourceError, Refused):
        return None
    return Modern(decode(data).encode(after), text, after)


def _is_for_python3(text: str) -> bool:
    """Whether a source is not meant for Python 2, or cannot be read at all."""
    try:
        return is_for_python3(parsed(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


def _of_original(result: FileResult, data: bytes, modern: Modern, own: frozenset[str]) -> FileResult:
    """The result as one of the original file: its edits, and findings at places of the original."""
    blocks = _blocks(modern.before, modern.after)
    findings = [dataclasses.replace(f, span=_moved(f.span, blocks)) for f in result.findings]
    findings += list(_fixed(modern, blocks))
    findings += _divisions(modern, blocks, own)
    findings += _texts_of_records(modern, blocks)
    ended = _ended(dataclasses.replace(result, findings=findings), data, modern.data)
    return dataclasses.replace(ended, edits=_line_edits(modern.before, decode(ended.after).text))


def _blocks(before: str, after: str) -> list[Any]:
    """The opcodes of difflib that turn the lines of one text into those of another."""
    return difflib.SequenceMatcher(None, _lines(before), _lines(after), autojunk=False).get_opcodes()


def _lines(text: str) -> list[str]:
    """The lines with their ends, as the rest of the converter counts them."""
    bounds = [*LineIndex(text).starts, len(text)]
    return [text[start:end] for start, end in itertools.pairwise(bounds) if start < end]


def _fixed(modern: Modern, blocks: list[Any]) -> Iterator[Finding]:
    """A finding for each run of lines that was brought to Python 3."""
    before, after = _lines(modern.before), _lines(modern.after)
    for tag, start, end, new_start, new_end in blocks:
        if tag != "equal":
            old, new = "".join(before[start:end]), "".join(after[new_start:new_end])
            what = next(filter(None, map(explain_python2, before[start:end])), "")
            message = f"Python 2 brought to Python 3: {what}." if what else "Python 2 brought to Python 3."
            last = max(end, start + 1)
            span = Span(start + 1, 1, last, max(1, len(before[last - 1].rstrip("\r\n")) + 1) if last <= len(before) else 1)
            finding = file_findings.PYTHON2.finding(Level.FIXED, message)
            yield dataclasses.replace(finding, span=span, before=old.rstrip("\r\n"), after=new.rstrip("\r\n"))


def _divisions(modern: Modern, blocks: list[Any], own: frozenset[str]) -> list[Finding]:
    """A finding about divisions that may be of whole numbers, for which Python 2 and 3 give different results."""
    return _said_of_divisions([] if divides_as_3(modern.before) else _divided(modern, blocks, own))


def _texts_of_records(modern: Modern, blocks: list[Any]) -> list[Finding]:
    """A finding about values of records that were text to Python 2, and are bytes to Python 3."""
    lines = [_moved(Span(line, 1, line, 1), blocks).line for line in texts_of_records(modern.after)]
    if not lines:
        return []
    message = (
        f"Values of records (lines: {_named(lines)}): Python 3 gives bytes there, which were text to Python 2. "
        "Write .decode() behind those that are text."
    )
    finding = file_findings.PYTHON2.finding(Level.MANUAL, message)
    return [dataclasses.replace(finding, span=Span(lines[0], 1, lines[0], 1))]


def _said_of_divisions(lines: list[int]) -> list[Finding]:
    if not lines:
        return []
    message = (
        f"Divisions (lines: {_named(lines)}): Python 2 rounds a quotient of two whole numbers down, Python 3 does not. "
        "Write // where whole numbers are meant."
    )
    finding = file_findings.PYTHON2.finding(Level.MANUAL, message)
    return [dataclasses.replace(finding, span=Span(lines[0], 1, lines[0], 1))]


def _divided(modern: Modern, blocks: list[Any], own: frozenset[str]) -> list[int]:
    """Lines of the original with divisions that may be of whole numbers. own: names that no other file uses."""
    return [_moved(Span(line, 1, line, 1), blocks).line for line in open_divisions(modern.after, own.__contains__)]


def _named(lines: list[int]) -> str:
    return ", ".join(map(str, lines[:_MOST_NAMED])) + (", ..." if len(lines) > _MOST_NAMED else "")


def _moved(span: Span, blocks: list[Any]) -> Span:
    """A place of the new text as one of the original: exact in unchanged lines, the run of lines in changed ones."""
    line, is_exact = _old_line(span.line, blocks)
    end_line, _ = _old_line(span.end_line, blocks)
    if is_exact:
        return Span(line, span.column, max(line, end_line), span.end_column)
    return Span(line, 1, max(line, end_line), 1)


def _old_line(line: int, blocks: list[Any]) -> tuple[int, bool]:
    for tag, start, end, new_start, new_end in blocks:
        if new_start < line <= new_end:
            offset = line - 1 - new_start
            return start + 1 + (offset if tag == "equal" else min(offset, max(0, end - start - 1))), tag == "equal"
    return max(1, blocks[-1][2] if blocks else line), False


def _line_edits(before: str, after: str) -> list[Edit]:
    """Whole changed lines as edits of the original."""
    old, new, opcodes = _lines(before), _lines(after), _blocks(before, after)
    starts = [0, *itertools.accumulate(map(len, old))]
    rule = file_findings.PYTHON2.id
    return [Edit(starts[i1], starts[i2], "".join(new[j1:j2]), rule) for tag, i1, i2, j1, j2 in opcodes if tag != "equal"]
