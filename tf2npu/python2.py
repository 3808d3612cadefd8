"""`--python2`: source that only Python 2 reads is brought to Python 3 first, as far as that is safe, and then converted.

The fixers are those of lib2to3 (in fissix, since Python 3.13 has lib2to3 no more) that keep the meaning of a program
whatever its values are. What they cannot know is a finding: above all whether a division is one of whole numbers.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import io
import itertools
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tf2npu import convert, file_findings
from tf2npu.config import Config
from tf2npu.convert import FileFacts, ProjectFacts
from tf2npu.findings import Edit, FileResult, Finding, Level, Span, Status
from tf2npu.python2_divisions import open_divisions, with_whole_divisions
from tf2npu.python2_imports import implicit_siblings, with_relative_imports
from tf2npu.scanner.console_scripts import is_project_settings
from tf2npu.scanner.notebook_path import is_notebook
from tf2npu.scanner.python2_constructs import GONE_BUILTINS, VERSION_TESTS, explain_python2, is_for_python3
from tf2npu.scanner.source import LineIndex, SourceError, decode
from tf2npu.scanner.syntax import parsed

# Left out: `import` (makes siblings relative in scripts that are started, too: python2_imports does not), `exec` (in Python 3 it
# sets no local names), `buffer`, and mere style.
_FIXERS = (
    "apply", "basestring", "dict", "except", "execfile", "exitfunc", "filter", "funcattrs", "getcwdu", "has_key", "imports",
    "imports2", "input", "intern", "isinstance", "itertools", "itertools_imports", "long", "map", "metaclass", "methodattrs",
    "ne", "next", "nonzero", "numliterals", "operator", "paren", "print", "raise", "raw_input", "reduce", "reload", "renames",
    "repr", "standarderror", "sys_exc", "throw", "tuple_params", "types", "unicode", "urllib", "xrange", "xreadlines", "zip",
)  # fmt: skip
_FIXERS_OF_BOTH = tuple(name for name in _FIXERS if name not in ("print", "input"))
_MOST_NAMED = 10
"""The most places that one message names: more are not read."""
_TAB_WORDS = {"inconsistent", "tabs"}  # of Python's own message


@dataclass(frozen=True)
class Modern:
    """What became of a Python 2 source. refusal: why nothing could be done, then `data` is the original."""

    data: bytes
    before: str = ""
    after: str = ""
    refusal: str = ""


def gather_facts(path: str, data: bytes) -> FileFacts:
    """`convert.gather_facts` for the source as it will be."""
    modern = None if is_project_settings(path) else modernize(path, data)
    facts = convert.gather_facts(path, modern.data if modern else data)
    return dataclasses.replace(facts, is_python2=True) if modern is not None and not modern.refusal else facts


def convert_file(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    """`convert.convert_file`, with a Python 2 source brought to Python 3 before; findings name places of the original."""
    modern = modernize(path, data)
    if path in project.python2 and (modern is None or not modern.refusal):
        modern = _of_python2(path, data, project)
    if modern is None:
        return convert.convert_file(path, data, config, project)
    result = convert.convert_file(path, modern.data, config, project)
    if modern.refusal:
        for n, finding in enumerate(result.findings):
            result.findings[n] = dataclasses.replace(finding, message=finding.message.removesuffix(convert.OR_PYTHON2))
        result.findings.append(file_findings.PYTHON2.finding(Level.MANUAL, f"--python2 cannot do this file: {modern.refusal}"))
        return result
    return _of_original(result, data, modern)


def convert_file_as_it_is(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    """`convert.convert_file`, with a finding where a file of a Python 2 project means another thing to Python 3."""
    result = convert.convert_file(path, data, config, project)
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
    return sorted({*changed, *(_divided(modern, blocks) if not _divides_as_3(modern.before) else ())})


@lru_cache(maxsize=32)
def modernize(path: str, data: bytes) -> Modern | None:
    """The source for Python 3; None for a notebook and for what Python 3 can read."""
    if is_notebook(path):
        return None
    try:
        text = decode(data).text
    except SourceError:
        return None  # the converter says what is wrong with it
    if _python3_error(text) is None and not _has_gone_builtins(text):
        return None
    try:
        after = _refactored(text)
    except _Refused as refused:
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
        after = text if is_for_both else _refactored(text, _FIXERS_OF_BOTH)
    except (SourceError, _Refused):
        return None
    return Modern(decode(data).encode(after), text, after)


def _is_for_python3(text: str) -> bool:
    """Whether a source is not meant for Python 2, or cannot be read at all."""
    try:
        return is_for_python3(parsed(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


class _Refused(Exception):
    """Why a source is not brought to Python 3."""


def _python3_error(text: str) -> str | None:
    """What Python 3 does not accept in the text, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd escapes in the user's strings
            tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return f"{getattr(error, 'msg', error)}{f' (line {line})' if line else ''}"
    except (RecursionError, MemoryError):
        return "nested too deeply"
    odd = next((node for node in ast.walk(tree) if _prints_to_a_file(node)), None)
    return None if odd is None else f"print >> means a shift (line {getattr(odd, 'lineno', 1)})"


def _has_gone_builtins(text: str) -> bool:
    """Whether a source uses a built-in name that Python 3 does not have, gives it no meaning, and has no other way."""
    if not any(name in text for name in GONE_BUILTINS):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    todo: list[ast.AST] = [] if "*" in bound else [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and node.id in GONE_BUILTINS.keys() - bound:
            return True
        todo += [] if _has_another_way(node) else ast.iter_child_nodes(node)
    return False


def _has_another_way(node: ast.AST) -> bool:
    """Whether what a node holds may never run: below a test of versions, or a try that catches what goes wrong."""
    if isinstance(node, (ast.If, ast.IfExp)):
        test = ast.unparse(node.test)
        return any(word in test for word in VERSION_TESTS)
    return isinstance(node, ast.Try) and bool(node.handlers)


def _prints_to_a_file(node: ast.AST) -> bool:
    """`print >>f, x` is an expression to Python 3, one that fails when it is run."""
    value = node.value if isinstance(node, ast.Expr) else None
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
    return (
        isinstance(first, ast.BinOp)
        and isinstance(first.op, ast.RShift)
        and isinstance(first.left, ast.Name)
        and first.left.id == "print"
    )


def _refactored(text: str, fixers: tuple[str, ...] = _FIXERS) -> str:
    n_crlf, n_lf, n_cr = text.count("\r\n"), text.count("\n"), text.count("\r")
    if n_cr != n_crlf or n_crlf not in (0, n_lf):
        raise _Refused("its lines end in different ways")
    plain = text.replace("\r\n", "\n")
    ended = plain if plain.endswith("\n") else plain + "\n"
    after = _run_fixers(ended, fixers)
    if set((_python3_error(after) or "").split()) >= _TAB_WORDS:
        after = _with_blanks_for_tabs(after)
    error = _python3_error(after)
    if error is not None:
        raise _Refused(f"after all fixes Python 3 still says: {error}")
    after = after if _divides_as_3(plain) else with_whole_divisions(after)
    after = after if plain.endswith("\n") else after.removesuffix("\n")
    return after.replace("\n", "\r\n") if n_crlf else after


def _with_blanks_for_tabs(text: str) -> str:
    """The text with blanks in front of its lines: to Python 2 a tab ends at the next multiple of eight columns.

    By the tokenizer of the fixers: Python's own, from 3.12 on, reads no line of such a file.
    """
    from fissix.pgen2 import tokenize

    inside: set[int] = set()  # lines that begin in a string
    try:
        for kind, _, (first, _), (last, _), _ in tokenize.generate_tokens(io.StringIO(text).readline):
            if kind == tokenize.STRING:
                inside.update(range(first + 1, last + 1))
    except (tokenize.TokenError, SyntaxError):
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        code = line.lstrip(" \t")
        if number not in inside:
            lines[number - 1] = line[: len(line) - len(code)].expandtabs(8) + code
    return "\n".join(lines)


def _run_fixers(text: str, fixers: tuple[str, ...]) -> str:
    try:
        return str(_tool(fixers).refactor_string(text, "<source>"))
    except Exception as error:  # not only parse errors: the fixers raise many kinds on odd code
        reason = " ".join(str(error).split())[:120]
        raise _Refused(f"it is not read as Python 2 either ({reason or type(error).__name__})") from None


@lru_cache(maxsize=2)
def _tool(fixers: tuple[str, ...]) -> Any:
    from fissix.refactor import RefactoringTool

    logging.getLogger("RefactoringTool").setLevel(logging.CRITICAL)
    logging.getLogger("fissix").setLevel(logging.CRITICAL)
    return RefactoringTool([f"fissix.fixes.fix_{name}" for name in fixers])


def _of_original(result: FileResult, data: bytes, modern: Modern) -> FileResult:
    """The result as one of the original file: its edits, and findings at places of the original."""
    final = result.after if result.status is Status.CONVERTED else modern.data
    blocks = _blocks(modern.before, modern.after)
    findings = [dataclasses.replace(f, span=_moved(f.span, blocks)) for f in result.findings]
    findings += list(_fixed(modern, blocks))
    findings += _divisions(modern, blocks)
    status = Status.CONVERTED if result.status is not Status.FAILED and final != data else result.status
    edits = _line_edits(modern.before, decode(final).text)
    return dataclasses.replace(result, status=status, findings=findings, edits=edits, before=data, after=final)


def _blocks(before: str, after: str) -> list[Any]:
    """How the lines of one text become those of another."""
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


def _divisions(modern: Modern, blocks: list[Any]) -> list[Finding]:
    """A finding about divisions that may be of whole numbers, for which Python 2 and 3 give different results."""
    lines = [] if _divides_as_3(modern.before) else _divided(modern, blocks)
    if not lines:
        return []
    message = (
        f"Divisions (lines: {_named(lines)}): Python 2 rounds a quotient of two whole numbers down, Python 3 does not. "
        "Write // where whole numbers are meant."
    )
    finding = file_findings.PYTHON2.finding(Level.MANUAL, message)
    return [dataclasses.replace(finding, span=Span(lines[0], 1, lines[0], 1))]


def _divided(modern: Modern, blocks: list[Any]) -> list[int]:
    """Lines of the original with divisions that may be of whole numbers."""
    return [_moved(Span(line, 1, line, 1), blocks).line for line in open_divisions(modern.after)]


def _named(lines: list[int]) -> str:
    return ", ".join(map(str, lines[:_MOST_NAMED])) + (", ..." if len(lines) > _MOST_NAMED else "")


def _divides_as_3(text: str) -> bool:
    """Whether a source asks for the divisions of Python 3."""
    return any("division" in line for line in text.split("\n") if line.lstrip().startswith("from __future__ import"))


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
