"""The converter's findings about a site or a file, and their parts: the vocabulary every other layer shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Level(str, Enum):
    """The way in which a finding was dealt with; only MANUAL and UNSUPPORTED make `convert` and `scan` exit 1."""

    FIXED = "fixed"  # an edit was made
    MANUAL = "manual"  # a person must do or decide something
    UNSUPPORTED = "unsupported"  # no way to the NPU is known as it is written
    SKIPPED = "skipped"  # deliberately not looked at: too big, pragma, not parsable
    INFO = "info"  # good to know; never changes the exit code


class Verdict(str, Enum):
    """The support for an API on the NPU; tf2npu.api_support knows it for each name."""

    RUNS = "runs"  # as it is
    CONVERTED = "converted"  # a rule rewrites it
    MANUAL = "manual"  # a person must change or decide something
    UNSUPPORTED = "unsupported"  # no way to the NPU is known, or it is not in TensorFlow 1.15
    HOST = "host"  # done by the host's Python or CPU, which is where it belongs
    UNKNOWN = "unknown"  # nobody promises anything, or the name could not be resolved


class Status(str, Enum):
    """The outcome of the conversion of a file."""

    CONVERTED = "converted"
    UNCHANGED = "unchanged"  # parsed, nothing to edit: byte-identical
    COPIED = "copied"  # not a source file of ours, or never mentions a relevant module
    CONFLICT = "conflict"  # a person changed the output; new version kept beside it
    FAILED = "failed"


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """A range of the ORIGINAL source. Lines and columns are 1-based, columns count characters, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Seen:
    """The place and the API at which a kind of distributed training was seen."""

    path: str
    line: int
    api: str


@dataclass(frozen=True, slots=True)
class EntryScript:
    """A file that is run and reaches TensorFlow.

    starts: what says so: "named" by the settings, its __main__ "guard", an installed "command", a "package", "loading" it, or
    the name of a "test"; a "notebook", or a shell "launcher", whose `runs` are the scripts that it starts, and which is typed in
    `folder`.  trains: whether it trains, directly or through the project.  arguments: words that its command line has to have,
    with names in capitals for values.
    """

    path: str
    starts: str
    trains: bool = False
    runs: tuple[str, ...] = ()
    folder: str = ""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace characters [start, end) of the original decoded text by `new`. Edits of a file never overlap."""

    start: int
    end: int
    new: str
    rule: str


def doc_of(rule_id: str) -> str:
    """The page and heading in the project's repository that explain a rule of ours."""
    return f"docs/generated/rules.md#{rule_id.lower()}"


@dataclass(frozen=True, slots=True)
class Answer:
    """The decision of a person about a finding.

    decision: id of the decision.  choice: "edit", "suppress" or "accept".  level: what the finding had before.
    who, note: as that person wrote them, or empty.
    """

    decision: str
    choice: str
    level: Level
    who: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One message about one place.

    before, after: source text of the site; of work that is left, `after` is code that a person writes there or beside it.
    replaces: whether that code may come in the place of the site as it is, so that a program may write it.
    doc: where the rule is explained, see `doc_of`.
    unsafe: whether `after` is the site as an unsafe fix would leave it, which may change values or shapes. Only the converter
    makes it, as it may add imports elsewhere.
    part: name of the part of the rule that made it, as parts of one rule have reasons of their own;
    empty where a rule has one part, or none.  answer: what a person decided, where one did.
    """

    rule: str
    level: Level
    span: Span
    message: str
    api: str = ""
    before: str = ""
    after: str = ""
    doc: str = ""
    cell: int | None = None  # 0-based cell index in a notebook
    part: str = ""
    replaces: bool = False
    unsafe: bool = False
    answer: Answer | None = None


UnsafePlace = tuple[str, int | None, int, str]
"""A place where a person has chosen an unsafe fix: the rule, the cell of a notebook, the line, and the message that the place has
without it."""


@dataclass(frozen=True, slots=True)
class ApiUse:
    """An API that a file refers to: how many references, and where the first one is.

    name: qualified, e.g. "tensorflow.nn.relu".  rule: the one that handles it, or "".  note: why it is unknown, or what to know.
    """

    name: str
    verdict: Verdict
    count: int
    line: int
    rule: str = ""
    note: str = ""
    cell: int | None = None  # 0-based cell index in a notebook


@dataclass(slots=True)
class FileResult:
    """Outcome for one file, picklable and free of syntax trees.

    path: POSIX path relative to the project root.  before/after: raw bytes (equal unless CONVERTED).
    """

    path: str
    status: Status
    findings: list[Finding] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    before: bytes = b""
    after: bytes = b""
    apis: list[ApiUse] = field(default_factory=list)  # every TensorFlow and Horovod API it refers to, by name
    lines: int = 0  # lines of code that were looked at, without blank ones

    @property
    def has_work_left(self) -> bool:
        return any(f.level in (Level.MANUAL, Level.UNSUPPORTED) for f in self.findings)
