"""The report as data: everything the renderers show, and nothing that differs between two runs on the same input."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import tf2npu
from tf2npu.config import EffortSettings
from tf2npu.findings import EntryScript, Finding, Level, Span, Status, Verdict
from tf2npu.report.model.dialect_line import dialect_line
from tf2npu.scanner.text.source import LineIndex

SCHEMA_VERSION = "1.1"
WORK_LEVELS = (Level.UNSUPPORTED, Level.MANUAL)


@dataclass(frozen=True)
class Change:
    """Replace `span` of the original text by `new`; all changes of a file, applied together, give its output."""

    rule: str
    span: Span
    new: str


@dataclass(frozen=True)
class Distribution:
    """A kind of distributed training that the project uses, and the places ("path:line") that show it."""

    kind: str
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class ApiRow:
    """An API that the project refers to: how often, in how many files, the first places, and what becomes of it.

    rule: the one that handles it, or "".  note: why it is unknown, or what to know.
    """

    name: str
    verdict: Verdict
    count: int
    n_files: int
    places: tuple[str, ...] = ()
    rule: str = ""
    note: str = ""


@dataclass
class FileReport:
    """One file.

    source: its original text, present where there is something to show in it; of a notebook the cells one below the
    other, with cell_lines[i] the line above cell i.  known: positions of the findings that the baseline holds.
    references: to TensorFlow and Horovod.  lines: of code that were looked at.  imports: paths of files that reach TensorFlow.
    """

    path: str
    status: Status
    findings: list[Finding] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    source: str | None = None
    cell_lines: list[int] = field(default_factory=list)
    known: set[int] = field(default_factory=set)
    references: int = 0
    lines: int = 0
    imports: tuple[str, ...] = ()

    def count(self, level: Level) -> int:
        return sum(1 for finding in self.findings if finding.level is level)

    def new_findings(self) -> list[Finding]:
        """The findings that the baseline does not hold."""
        return [finding for number, finding in enumerate(self.findings) if number not in self.known]

    @property
    def has_failed(self) -> bool:
        """Whether the file failed in a way that the baseline does not hold, and that nobody has accepted."""
        is_told = self.known or any(finding.answer for finding in self.findings)
        return self.status is Status.FAILED and not (
            is_told and all(f.level in (Level.FIXED, Level.INFO) for f in self.new_findings())
        )

    @property
    def has_page(self) -> bool:
        return self.source is not None and bool(self.findings or self.changes)


@dataclass(frozen=True)
class HistoryEntry:
    """The work that was left after a conversion.  minutes: estimate of the work; None where there was none."""

    decisions: int
    findings: int
    places: int
    minutes: int | None = None


@dataclass(frozen=True)
class CommandPaths:
    """Paths in commands to type, as they are from OUT; with `scan`, from where it was run.

    source: the folder, or with `scan` the SRC, that the paths of the report belong to; "" where it is not known.
    report: the folder of the report; "" for the usual one.  name: of a single file that is called otherwise in OUT.
    """

    source: str = ""
    report: str = ""
    name: str = ""


@dataclass
class Report:
    """A whole report.

    command: "convert" or "scan" (where fixes are possible ones); mode: the --distributed mode that was applied;
    left_out: folders that were neither converted nor copied, with the reason; n_stale: entries of the baseline that fit no
    finding any more; prefix: path of SRC in the repository, for formats of code hosts only;
    apis: every TensorFlow and Horovod API that the project refers to.  run: what `tf2npu run --report` adds, as data.
    earlier_runs: the last run of each other script.
    check: what `tf2npu check --report` adds.  entries: the scripts that are run.  effort: how work is estimated.
    history: what was left after each conversion into the folder, this one last.
    paths: for the commands that are shown, which report.json does not hold.  beside: pages of other commands in its folder.
    english: of a report in another language the same one in English.
    """

    files: list[FileReport] = field(default_factory=list)
    command: str = "convert"
    mode: str = "none"
    distributions: tuple[Distribution, ...] = ()
    left_out: tuple[str, ...] = ()
    tool_version: str = tf2npu.__version__
    n_stale: int = 0
    prefix: str = ""
    language: str = "en"
    apis: tuple[ApiRow, ...] = ()
    run: dict[str, Any] | None = None
    earlier_runs: list[dict[str, Any]] = field(default_factory=list)
    check: dict[str, Any] | None = None
    history: tuple[HistoryEntry, ...] = ()
    entries: tuple[EntryScript, ...] = ()
    effort: EffortSettings = field(default_factory=EffortSettings)
    paths: CommandPaths = field(default_factory=CommandPaths)
    beside: tuple[str, ...] = ()
    english: Report | None = None

    @property
    def runs(self) -> list[dict[str, Any]]:
        """All runs, the last one first."""
        return [*([self.run] if self.run is not None else []), *self.earlier_runs]

    @property
    def n_known(self) -> int:
        """Findings that the baseline holds."""
        return sum(len(file.known) for file in self.files)

    def statuses(self) -> dict[str, int]:
        counts = Counter(file.status for file in self.files)
        return {status.value: counts[status] for status in Status}

    def levels(self) -> dict[str, int]:
        counts = Counter(finding.level for _, finding in self.findings())
        return {level.value: counts[level] for level in Level}

    def findings(self) -> Iterable[tuple[FileReport, Finding]]:
        for file in self.files:
            for finding in file.findings:
                yield file, finding

    def with_english(self) -> Iterator[tuple[FileReport, Finding, Finding, int]]:
        """Each finding as the reader has it and as the converter said it, with its number in the file from 1."""
        original = self.english or self
        for file, english in zip(self.files, original.files, strict=True):
            for number, (finding, said) in enumerate(zip(file.findings, english.findings, strict=True), 1):
                yield file, finding, said, number

    def outcome(self, name: str) -> str:
        """A status or level in words: with `scan`, what is converted or fixed would be."""
        is_possible = self.command == "scan" and name in (Status.CONVERTED.value, Level.FIXED.value)
        return f"would be {name}" if is_possible else name

    @property
    def headline(self) -> str:
        """The report's first line: scripts that are not for TensorFlow 1.15, the distribution that was found, what to run to
        convert it, and what ends a simulated run."""
        dialect = dialect_line((file.path, finding) for file in self.files for finding in file.new_findings())
        is_left = bool(dialect) and not self.statuses()["converted"]
        distribution = "" if is_left else self._groups_line or self._distribution_line
        return " ".join(part for part in (dialect, distribution, self._not_simulated_line) if part)

    @property
    def _groups_line(self) -> str:
        """The place at which PyTorch's processes join a group, where nothing else is distributed."""
        places = [place for row in self.apis if row.name == _JOINS_GROUP for place in row.places[:1]]
        if not places or self.distributions:
            return ""
        place = places[0]
        return f"Distributed training found: torch.distributed ({place}). It stays, over HCCL; `tf2npu run --devices 2` tries it."

    @property
    def _not_simulated_line(self) -> str:
        """The APIs at which a simulated run ends, with the first place of each; nothing where there is none."""
        places: dict[str, str] = {}
        for file in self.files:
            for finding in file.new_findings():
                if finding.rule == _NOT_SIMULATED and finding.level in WORK_LEVELS:
                    places.setdefault(finding.api.replace("tensorflow.", "tf.", 1), f"{file.path}:{finding.span.line}")
        named = [f"{api} ({place})" for api, place in places.items()]
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        return f"A simulated run ends at {', '.join(named[:_MOST_NAMED])}{more}." if named else ""

    @property
    def _distribution_line(self) -> str:
        writes = self.command == "convert"
        if not self.distributions:
            return _NOTHING_FOUND[self.mode] if writes else "No distributed training was found."
        found = "; ".join(_name_with_place(d) for d in self.distributions)
        if self.mode != "none":
            if not writes:
                return f"Distributed training found: {found}. It would be converted with --distributed {self.mode}."
            return (
                f"Distributed training found: {found}. Converted with --distributed {self.mode}; "
                "`tf2npu run --devices 2` tries it."
            )
        rerun = " or ".join(f"`tf2npu convert SRC OUT --distributed {mode}`" for mode in self.possible_modes)
        if not writes:
            way = f"To convert it, run {rerun}." if rerun else "It has no form on the NPU."
            return f"Distributed training found: {found}. {way}"
        if not rerun:
            return f"Distributed training found: {found}. It has no form on the NPU; converted for a single device."
        return f"Distributed training found: {found}. Converted for a single device; to convert it too, run {rerun}."

    @property
    def possible_modes(self) -> list[str]:
        return [d.kind for d in self.distributions if d.kind in ("horovod", "tf")]


_JOINS_GROUP = "torch.distributed.init_process_group"
"""The function by which a process of PyTorch joins the others."""
_NOT_SIMULATED = "NPU968"
"""The rule about APIs that TensorFlow 1.15 has and a simulated run has not."""
_MOST_NAMED = 3
"""The most APIs that the first line of a report names: more are not read there, and "Left to do" has all."""
_NOTHING_FOUND = {
    "none": "No distributed training was found; converted for a single device.",
    "horovod": "No Horovod was found for --distributed horovod to convert; --distributed tf makes training distributed.",
    "tf": "No distributed training was found. Converted with --distributed tf, which averages the gradients of what trains; "
    "`tf2npu run --devices 2` tries it.",
}
_DISTRIBUTION_NAMES = {"horovod": "Horovod", "tf": "tf.distribute", "parameter-server": "parameter server"}


def _name_with_place(distribution: Distribution) -> str:
    name = _DISTRIBUTION_NAMES.get(distribution.kind, distribution.kind)
    places = distribution.places
    if not places:
        return name
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{name} ({places[0]}{more})"


def exit_code(report: Report, *, check: bool = False) -> int:
    """3 when a file failed; 1 when work is left (with `check`: when a file would change); else 0. What is known is not new."""
    if any(file.has_failed for file in report.files):
        return 3
    if check:
        return 1 if report.statuses()["converted"] else 0
    return 1 if any(finding.level in WORK_LEVELS for file in report.files for finding in file.new_findings()) else 0


def finding_order(finding: Finding) -> tuple[int, Span, str, str]:
    return (-1 if finding.cell is None else finding.cell, finding.span, finding.rule, finding.message)


class Lines(LineIndex):
    """A text by lines, as editors and the converter count them: only CR, LF and CRLF end a line.

    Form feeds and Unicode separators, at which `str.splitlines` would break too, stay inside their line.
    """

    def __len__(self) -> int:
        """Lines that hold something: a final line end does not open another one."""
        return len(self.starts) - (1 if self.starts[-1] == len(self.text) else 0)

    def with_ends(self) -> list[str]:
        """The lines with their ends; joined they are the text."""
        bounds = [*self.starts[: len(self)], len(self.text)]
        return [self.text[start:end] for start, end in itertools.pairwise(bounds)]

    def offset(self, line: int, column: int) -> int:
        """Character offset of a 1-based place; places beyond the text mean its end."""
        if line > len(self.starts):
            return len(self.text)
        return min(self.starts[line - 1] + column - 1, len(self.text))
