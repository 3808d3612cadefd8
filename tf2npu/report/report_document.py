"""What report.json must hold, as types: a report that fits them can be rendered in every format.

report.schema.json beside this file says the same to other programs. Keys of later versions are passed over; totals are not
read, they are counted again.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tf2npu.findings import Level, Span, Status, Verdict

Count = Annotated[int, Meta(ge=0, le=2**53)]  # what JSON readers hold exactly
Place = Annotated[int, Meta(ge=1, le=2**31 - 1)]  # a line or column; SARIF readers keep them in 32 bits
Share = Annotated[float, Meta(ge=0, le=1)]


class Range(Struct):
    """A range of the original text; the end is exclusive."""

    line: Place
    column: Place
    end_line: Place
    end_column: Place

    @property
    def span(self) -> Span:
        return Span(self.line, self.column, self.end_line, self.end_column)


class AnswerEntry(Struct):
    decision: str
    choice: Literal["edit", "suppress", "accept"]
    level: Level
    who: str
    note: str


class FindingEntry(Range, kw_only=True):
    rule: str
    level: Level
    api: str
    message: str
    before: str
    after: str
    doc: str
    cell: Count | None = None
    part: str = ""
    known: bool = False
    answer: AnswerEntry | None = None


class ChangeEntry(Range, kw_only=True):
    rule: str
    new: str


class FileEntry(Struct):
    path: str
    status: Status
    findings: list[FindingEntry]
    changes: list[ChangeEntry] = []
    cell_lines: list[Place] = []
    source: str | None = None


class ApiEntry(Struct):
    name: str
    verdict: Verdict
    rule: str
    note: str
    count: Count
    files: Count
    places: list[str]


class DistributionEntry(Struct):
    kind: Literal["horovod", "tf", "parameter-server"]
    places: list[str]


class Distributed(Struct):
    mode: Literal["none", "horovod", "tf"]
    found: list[DistributionEntry]


class KnownCounts(Struct, frozen=True):
    stale: Count


class Summary(Struct):
    command: Literal["convert", "scan"]
    distributed: Distributed
    left_out: list[str]
    baseline: KnownCounts = KnownCounts(0)


class Tool(Struct):
    name: Literal["tf2npu"]
    version: str


class HostReason(Struct):
    reason: str
    count: Count
    example: str


class Fetched(Struct):
    fetches: list[str]
    steps: Count
    recompilations: Count
    device_nodes: Count
    host_nodes: Count
    device_share: Share


class SessionEntry(Struct):
    name: str
    runs: list[Fetched]


class OptionEntry(Struct):
    option: str
    effect: str


class FindingPlace(Struct):
    rule: str
    path: str
    line: Place


class FailureEntry(Struct):
    type: str
    message: str
    place: str
    node: str
    op: str
    node_place: str
    finding: FindingPlace | None


class Scalar(Struct):
    name: str
    first: str
    last: str


class ShapeChange(Struct):
    input: str
    count: Count
    shapes: list[str]
    places: list[str]


class RankEntry(Struct):
    rank: Count
    steps: Count
    step_seconds: float
    collective_seconds: float
    times_last: Count
    seconds_awaited: float
    scalars: list[Scalar]


class Run(Struct):
    """What `tf2npu run --report` adds."""

    script: str
    exit_code: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
    device: str
    steps: Count
    device_share: Share
    recompilations: Count
    host_nodes: list[HostReason]
    sessions: list[SessionEntry]
    options_without_effect: list[OptionEntry]
    sessions_left_open: list[str]
    sessions_on_tensorflow: list[str] = []
    uncounted_nodes: Count = 0
    tuning: list[str] = []
    precision: list[str] = []
    new_shapes: Count | None = None
    shape_changes: list[ShapeChange] = []
    ranks: list[RankEntry] = []
    failure: FailureEntry | None = None
    files: dict[str, str] = {}
    changed_files: list[str] = []


class FirstNode(Struct):
    node: str
    op: str
    place: str


class CheckedMode(Struct):
    mode: str
    verdict: Literal["agrees", "differs", "failed", "not run"]
    cause: Literal["", "conversion", "kernel", "folding", "fusion", "precision", "overflow", "randomness"]
    first_difference: FirstNode | None
    least_change: list[str]


class Check(Struct):
    """What `tf2npu check --report` adds."""

    script: str
    steps: Count
    modes: list[CheckedMode]


class HistoryDocument(Struct):
    decisions: Count
    findings: Count
    places: Count
    minutes: Count | None = None


class ReportDocument(Struct):
    schema_version: str
    tool: Tool
    summary: Summary
    files: list[FileEntry]
    apis: list[ApiEntry] = []
    run: Run | None = None
    earlier_runs: list[Run] = []
    check: Check | None = None
    history: Annotated[list[HistoryDocument], Meta(max_length=1000)] = []
