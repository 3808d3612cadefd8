"""Properties that hold for every program, checked with Python's own tools: ast, tokenize, pyflakes and a splice of bytes."""

from __future__ import annotations

import ast
import hashlib
import random
import re
from dataclasses import dataclass, field

import libcst

from benchmarks.acceptance import outside_bytes, properties
from tf2npu.config import Config, Target
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Level, Status

_STRINGS_OF_TODAY = re.compile(r"(?<![fFtT])(['\"])(?:\\.|(?!\1).)*\1")
_FORMATTED = re.compile(r"\b(?:[rR]?[fFtT]|[fFtT][rR])['\"]")
_EMPTY = ast.parse("")
PROPERTIES = (
    "crash",
    "parses",
    "compiles",
    "second pass",
    "comments",
    "outside",
    "undefined",
    "untouched",
    "reported",
    "deterministic",
)


@dataclass
class Looked:
    """The result for a program. violations: (property, what was seen)."""

    status: str
    is_python: bool
    digest: str
    refusal: str = ""
    violations: list[tuple[str, str]] = field(default_factory=list)


def settings(rng: random.Random) -> Config:
    """A way to convert, each mode and adapter in its turn."""
    return Config(
        distributed=rng.choice(("none", "none", "horovod", "tf", "auto")),
        unsafe_fixes=rng.random() < 0.3,
        import_style=rng.choice(("explicit", "explicit", "explicit", "star")),
        target=Target(adapter=rng.choice(("current", "current", "2021"))),
        dialect=rng.choice(("auto", "auto", "auto", "tf1", "tf2", "tf2-compat")),
    )


def mode_of(config: Config) -> str:
    """A conversion's mode as one word."""
    return f"{config.dialect}/{config.distributed}/{config.target.adapter}{'/unsafe' if config.unsafe_fixes else ''}"


def look(data: bytes, config: Config) -> Looked:
    """Convert a program and look at the outcome."""
    tree = properties.parsed(data)
    try:
        result = convert_source(data, "train.py", config)
    except Exception as error:  # nothing may come out of the converter; what does is what is looked for
        return Looked("raised", tree is not None, "", violations=[("crash", f"{type(error).__name__}: {error}")])
    looked = Looked(result.status.value, tree is not None, digest(result))
    looked.refusal = (
        next((f.message for f in result.findings if f.rule == "NPU900"), "") if result.status is Status.FAILED else ""
    )
    if "defect of tf2npu" in looked.refusal:
        looked.violations.append(("crash", looked.refusal))
    if tree is None:
        looked.violations += _not_python(data, result)
    elif result.after != data:
        looked.violations += _converted(data, config, result)
    return looked


def digest(result: FileResult) -> str:
    """The same for the same outcome."""
    return hashlib.sha256(repr((result.status, result.after, result.edits, result.findings, result.apis)).encode()).hexdigest()


def _not_python(data: bytes, result: FileResult) -> list[tuple[str, str]]:
    if result.after != data and not _is_newer_python(data):
        return [("untouched", "Python does not parse the input, and it was changed")]
    if result.status is Status.FAILED and not result.findings:
        return [("reported", "not converted, and nothing is said")]
    return []


def _is_newer_python(data: bytes) -> bool:
    """Whether the source may be fit for a Python after this one: f-strings that hold line ends or quotes, and t-strings."""
    try:
        text = outside_bytes.decoded(data)[0]
        strings = [_STRINGS_OF_TODAY.sub("''", line) for line in text.splitlines()]
        libcst.parse_module(text)
    except (SyntaxError, UnicodeError, LookupError, libcst.ParserSyntaxError):
        return False
    return any(_FORMATTED.search(line) for line in strings)


def _converted(data: bytes, config: Config, result: FileResult) -> list[tuple[str, str]]:
    found = []
    old, new = properties.parsed(data), properties.parsed(result.after)
    if new is None:
        found.append(("parses", "the output does not parse"))
    elif old is not None:
        undefined = set(properties.undefined_names(old, new)[0]) - set(properties.undefined_names(_EMPTY, old)[0])
        found += [("undefined", ", ".join(sorted(undefined)))] if undefined else []
        if properties.compiles(data) and not properties.compiles(result.after):
            found.append(("compiles", "the input compiles, the output does not"))
    lost = properties.comments_lost(data, result.after)
    found += [("comments", repr(lost))] if lost else []
    found += _edits(data, result)
    again = convert_source(result.after, "train.py", config)
    if again.after != result.after or again.status is Status.FAILED:
        rules = sorted({f.rule for f in again.findings if f.level is Level.FIXED or again.status is Status.FAILED})
        found.append(("second pass", f"{again.status.value} by {', '.join(rules)}"))
    return found


def _edits(data: bytes, result: FileResult) -> list[tuple[str, str]]:
    """The output is the input with the reported edits made, and every change has a finding."""
    text, encoding, bom = outside_bytes.decoded(data)
    pieces, at = [], 0
    for edit in result.edits:
        if edit.start < at:
            return [("outside", f"edits overlap at {edit.start}")]
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    if bom + "".join([*pieces, text[at:]]).encode(encoding) != result.after:
        return [("outside", "the output is not the input with the edits made")]
    if not any(f.level is Level.FIXED for f in result.findings):
        return [("reported", "changed without a finding")]
    return []
