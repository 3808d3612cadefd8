"""A LibCST tree together with the offset of every node in the text it was parsed from.

The offsets come from one emit of the tree, which at the same time proves that the tree holds every character of the source.
LibCST's own position provider does the same with line/column arithmetic at several times the cost.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeVar

import libcst as cst

from tf2npu.scanner.python2.constructs import OLD_EXCEPT, explain_python2
from tf2npu.scanner.text.codegen_offsets import record
from tf2npu.scanner.text.except_blanks import give_back_blanks
from tf2npu.scanner.text.line_map import LineMap, line_map, plainly_indented
from tf2npu.scanner.text.nesting_guard import LONGEST_NAME, has_deep_brackets, longest_name
from tf2npu.scanner.text.source import MERGE_MARKER, UNRESOLVED, Python2Error, SourceError

T = TypeVar("T")
_NOTHING: AbstractContextManager[None] = nullcontext()
# Enough for a sum of some ten thousand terms; only used after a first attempt ran out of stack.
_DEEP_STACK_BYTES = 512 * 1024 * 1024
_DEEP_RECURSION_LIMIT = 200_000
"""Python's recursion limit on the large stack, some frames for each of the levels that it holds."""
# What LibCST nests where Python's own tree is flat or its statements are short. Its parser is machine code, which crashes
# when the stack ends: a stack of 8 MB holds some 9,000 `elif`, and the large one a quarter of a million.
_NESTING = re.compile(r"\b(?:elif|and|or)\b")
_MOST_NESTED, _MOST_NESTED_DEEP = 2_000, 200_000
_MAY_BE_OLD = re.compile(r"except[ \t]+[^(:\n]+,")  # begins with a word, which is found in a fraction of the time
_here = threading.local()  # is_deep: whether this thread has the large stack
_MOST_COMMAS = 500_000  # a list of 2.4 million numbers in 5 MB of source took LibCST 10 GB


TOO_DEEP = "an expression or block is nested too deeply to be converted"


class TooDeepError(SourceError):
    """Nesting that neither the parser nor a tree walk can handle."""


class Tree:
    """A parsed module; `span` gives the character range of a node, parentheses around an expression included.

    tokens: names, signs, literals and comments, each as a whole; so a rule sees at once that a name is not in the code.
    """

    def __init__(self, text: str, module: cst.Module) -> None:
        self.text = text
        self.module = module
        recorder = record(module)
        code = "".join(recorder.tokens)
        offsets = [0, *accumulate(map(len, recorder.tokens))]
        offsets.append(offsets[-1])  # a last newline that the source does not have was a token for a while
        self._from, self._to = offsets, offsets
        self.is_faithful = code == text or self._lay_over(line_map(text, code))
        self._starts, self._ends = recorder.starts, recorder.ends
        self._statements = recorder.statements
        self.tokens = frozenset(recorder.tokens)

    def _lay_over(self, lines: LineMap | None) -> bool:
        """Take the offsets for those of the text, which holds lines that the tree does not."""
        if lines is None:
            return False
        self._to = [lines.end(offset) for offset in self._to]
        self._from = [lines.start(offset) for offset in self._from]
        return True

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Range of a node that is not mere layout; of a statement without its leading comments, decorators included."""
        key = id(node)
        start, end = self._statements.get(key) or (self._starts[key], self._ends[key])
        first = self._from[start]
        return first, max(first, self._to[end])

    def source(self, node: cst.CSTNode) -> str:
        """Source text of a node."""
        start, end = self.span(node)
        return self.text[start:end]


def parse(text: str, is_python: bool = False) -> Tree:
    """Parse Python source. is_python: Python's own parser is known to take it, so nodes need not be checked one by one.

    Raises: SourceError with line and column for a syntax error, or for source that the parser cannot give back unchanged.
    """
    if text.count(",") > _MOST_COMMAS:
        raise SourceError(
            f"it has more than {_MOST_COMMAS:,} commas, a table rather than a program, and its tree would take gigabytes of "
            "memory; move the table into a data file"
        )
    if "\0" in text:
        at = text.index("\0")
        raise SourceError("source code cannot hold a null byte", text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
    _require_stack(text)
    if not is_python and has_deep_brackets(text):
        raise TooDeepError(TOO_DEEP)
    try:
        with _making.fast() if is_python else _NOTHING:
            module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        plain = _with_plain_indentation(text)
        if plain is None:
            raise _syntax_error(text, error) from None
        module = plain
    except cst.CSTValidationError as error:
        own = refused_by_python(text) or SyntaxError(str(error))
        raise error_of_python(text, own) from None
    except (ValueError, UnicodeError) as error:
        raise SourceError(f"cannot be parsed: {error}") from None
    if _MAY_BE_OLD.search(text) and OLD_EXCEPT.search(text):
        _refuse_old_except(text)
    tree = Tree(text, module)
    if not tree.is_faithful and give_back_blanks(text, module):
        tree = Tree(text, module)
    if not tree.is_faithful:
        raise SourceError("the parser does not give this file back unchanged, so it is left alone")
    return tree


def _require_stack(text: str) -> None:
    """Raises: RecursionError, so that it is done on the large stack, where the parser could run out of this one."""
    if text.count("elif") + text.count("and") + text.count("or") <= _MOST_NESTED >= text.count("."):
        return  # an upper limit, which takes no time
    chain = longest_name(text)
    nested = max(chain, sum(1 for _ in _NESTING.finditer(text)))
    if nested > _MOST_NESTED_DEEP or chain > LONGEST_NAME:
        raise TooDeepError(TOO_DEEP)
    if nested > _MOST_NESTED and not getattr(_here, "is_deep", False):
        raise RecursionError


class _Making:
    """The making of nodes without LibCST's check of each, which is a tenth of a parse and finds nothing in what Python takes.

    Blanks and ends of lines, half of all nodes, are made once for each text of theirs, which is another tenth. Nobody tells one
    from the other: they have no offsets, and no node changes.
    """

    is_checked = True

    @contextmanager
    def fast(self) -> Iterator[None]:
        """Make nodes so while this is open."""
        self.is_checked = False
        for name, kind in _LAYOUT.items():
            setattr(cst, name, lru_cache(maxsize=None)(kind))
        try:
            yield
        finally:
            self.is_checked = True
            for name, kind in _LAYOUT.items():
                setattr(cst, name, kind)


_LAYOUT: dict[str, Any] = {"SimpleWhitespace": cst.SimpleWhitespace, "Newline": cst.Newline}
"""Kinds of nodes that the parser makes again and again, by the names under which it finds them in LibCST."""
_NODES: Any = cst.CSTNode
_making = _Making()


def _check(node: cst.CSTNode) -> None:
    """The check of a node.  It is put in once: each change of a class takes from Python what it has learned of all nodes."""
    if _making.is_checked:
        node._validate()


_NODES.__post_init__ = _check


def _with_plain_indentation(text: str) -> cst.Module | None:
    """The tree of a source whose mix of tabs and blanks only Python takes, with other blanks in front of lines; or None."""
    if "\t" not in text and "\f" not in text:
        return None
    plain = plainly_indented(text) if python_parses(text) else None
    try:
        return cst.parse_module(plain) if plain is not None else None
    except (cst.ParserSyntaxError, ValueError):
        return None


def python_parses(text: str) -> bool:
    """Whether this Python parses a source; a text too deep for its parser it does not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def run_with_deep_stack(function: Callable[[], T]) -> T:
    """Run a function; when it runs out of stack, once more in a thread with a large one.

    Raises: TooDeepError when that is not enough either.
    """
    try:
        return function()
    except RecursionError:
        return _run_in_deep_thread(function)


def _run_in_deep_thread(function: Callable[[], T]) -> T:
    outcome: list[tuple[bool, Any]] = []

    def target() -> None:
        _here.is_deep = True
        try:
            outcome.append((True, function()))
        except BaseException as error:  # handed to the caller below
            outcome.append((False, error))

    limit, size = sys.getrecursionlimit(), threading.stack_size(_DEEP_STACK_BYTES)
    sys.setrecursionlimit(max(limit, _DEEP_RECURSION_LIMIT))
    try:
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    succeeded, value = outcome[0]
    if succeeded:
        return value
    if isinstance(value, (RecursionError, MemoryError)):
        raise TooDeepError(TOO_DEEP)
    raise value


def _refuse_old_except(text: str) -> None:
    """`except A, b:` binds b in Python 2; since Python 3.14 it means something else, which the parser takes it for."""
    error = refused_by_python(text)
    if error is not None:
        line = error.lineno or 1
        lines = text.splitlines()
        if line <= len(lines) and OLD_EXCEPT.search(lines[line - 1]):
            raise Python2Error("Python 3 cannot read the code (except clause with a comma). Rewrite the code for Python 3", line)


def refused_by_python(text: str) -> SyntaxError | None:
    """The error of this Python's parser in a source; None where it takes it, or cannot say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        pass  # too deep or too long for this parser, not wrong
    return None


def _syntax_error(text: str, error: cst.ParserSyntaxError) -> SourceError:
    """The error at the place Python's own parser names, which is nearer the cause, when it refuses the source too."""
    own = refused_by_python(text)
    if own is not None:
        return error_of_python(text, own, error.raw_line, error.raw_column + 1)
    return _said(text, error.raw_line, error.raw_column + 1, error.message.splitlines()[0])


def error_of_python(text: str, own: SyntaxError, line: int = 1, column: int = 1) -> SourceError:
    """The error of this Python's parser, as the reason why a source is left alone."""
    if isinstance(own, TabError):
        construct = "tabs and blanks mixed in front of lines"
        return Python2Error(f"Python 3 cannot read the code ({construct}). Rewrite the code for Python 3", own.lineno or line, 1)
    return _said(text, own.lineno or line, own.offset or column, own.msg)


def _said(text: str, line: int, column: int, reason: str) -> SourceError:
    lines = text.splitlines()
    if 0 < line <= len(lines) and MERGE_MARKER.match(lines[line - 1]):
        return SourceError(UNRESOLVED, line)
    construct = explain_python2(lines[line - 1]) if 0 < line <= len(lines) else ""
    if construct:
        return Python2Error(f"Python 3 cannot read the code ({construct}). Rewrite the code for Python 3", line, column)
    return SourceError(f"syntax error: {reason}", line, column)
