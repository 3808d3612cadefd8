"""The form of report.json, as types: a report that fits them can be rendered in every format.

report.schema.json in the folder above says the same to other programs. Keys of later versions are passed over; totals are not
read, they are counted again.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tf2npu.config import MOST_MINUTES
from tf2npu.findings import Level, Span, Status, Verdict
from tf2npu.report.model.operators import (
    CopyLine,
    Count,
    EagerOperators,
    FilePlace,
    FindingPlace,
    MemoryPeak,
    OperatorLimit,
    Place,
    SwitchedName,
)

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
    replaces: bool = False
    unsafe: bool = False
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
    references: Count = 0
    lines: Count = 0
    imports: list[str] = []
    source: str | None = None


class ApiEntry(Struct):
    name: str
    verdict: Verdict
    rule: str
    note: str
    count: Count
    files: Count
    places: list[str]


class EntryEntry(Struct):
    path: str
    starts: Literal["named", "guard", "command", "package", "loading", "test", "notebook", "launcher"]
    trains: bool
    runs: list[str] = []
    folder: str = ""
    arguments: list[str] = []


class DistributionEntry(Struct):
    kind: Literal["horovod", "tf", "parameter-server"]
    places: list[str]


class Distributed(Struct):
    mode: Literal["none", "horovod", "tf"]
    found: list[DistributionEntry]


class KnownCounts(Struct, frozen=True):
    stale: Count


Minutes = Annotated[float, Meta(ge=0, le=MOST_MINUTES)]


class RuleMinutes(Struct):
    rule: str
    first: Minutes
    further: Minutes


class EffortConfig(Struct):
    low: Annotated[float, Meta(ge=0, le=1)]
    high: Annotated[float, Meta(ge=1, le=MOST_MINUTES)]
    minutes: list[RuleMinutes] = []


class EffortEntry(Struct):
    settings: EffortConfig


class Summary(Struct):
    command: Literal["convert", "scan"]
    distributed: Distributed
    left_out: list[str]
    baseline: KnownCounts = KnownCounts(0)
    effort: EffortEntry | None = None


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
    step_seconds: float = 0.0
    arena_bytes: Count = 0
    live_bytes: Count = 0
    variable_bytes: Count = 0
    device_types: dict[str, Count] = {}
    function: str | UnsetType = UNSET


class SessionEntry(Struct):
    name: str
    runs: list[Fetched]
    place: str = ""


class OptionEntry(Struct):
    option: str
    effect: str


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
    points: Annotated[list[tuple[Count, str]], Meta(max_length=1000)] = []


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


class ReachedFile(Struct):
    path: str
    reached: list[tuple[Place, Place]]
    not_reached: list[tuple[Place, Place]]


class DeviceLine(FilePlace):
    count: Count


class HostLine(Struct):
    place: str
    at: FilePlace | None
    reason: str
    count: Count
    example: str
    is_expected: bool
    finding: FindingPlace | None


class InputLines(Struct):
    input: str
    lines: list[FilePlace]
    count: Count
    shapes: list[str]
    steps: Count


class SessionLine(FilePlace):
    ran_on: Literal["device", "TensorFlow"]
    is_left_open: bool


class ApiLine(FilePlace):
    apis: list[str]


class OperatorWork(Struct):
    op: str
    operations: Annotated[float, Meta(ge=0)]


class Stream(Struct):
    name: Literal["compile", "device", "host", "waiting"]
    seconds: float
    spans: Annotated[list[tuple[float, float, float]], Meta(max_length=1000)]


class Timeline(Struct):
    seconds: float
    streams: list[Stream]


class FunctionEntry(Struct):
    name: str
    calls: Count
    signatures: Count


class FunctionOnTensorflow(Struct):
    name: str
    calls: Count
    reason: str


class VariableCopies(Struct):
    up: Count
    down: Count


class MadeFile(Struct):
    path: str
    content: str


class SmokeEntry(Struct):
    """The part of a smoke run, which trains for some steps on made-up data."""

    wanted: Count
    steps: Count
    without_change: Count = 0
    on_host: Count = 0
    first_loss: str = ""
    last_loss: str = ""
    failure: str = ""
    made: list[MadeFile] = []
    needs: list[str] = []
    is_cut: bool = False
    seconds: Count = 0
    date: str = ""


class Run(Struct):
    """The part that `tf2npu run --report` adds."""

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
    training_steps: Count | None = None
    new_shapes: Count | None = None
    shape_changes: list[ShapeChange] = []
    ranks: list[RankEntry] = []
    failure: FailureEntry | None = None
    files: dict[str, str] = {}
    changed_files: list[str] = []
    memory_bytes: Count = 0
    timeline: Timeline | None = None
    work: list[OperatorWork] = []
    scalars: list[Scalar] = []
    reached_files: list[ReachedFile] = []
    device_lines: list[DeviceLine] = []
    host_lines: list[HostLine] = []
    input_lines: list[InputLines] = []
    session_lines: list[SessionLine] = []
    api_lines: list[ApiLine] = []
    functions: list[FunctionEntry] = []
    functions_on_tensorflow: list[FunctionOnTensorflow] = []
    variable_copies: VariableCopies | None = None
    eager_operations: dict[str, Count] = {}
    eager_operators: EagerOperators | None = None
    limit_lines: list[OperatorLimit] = []
    copy_lines: list[CopyLine] = []
    switched_lines: list[SwitchedName] = []
    memory_peaks: list[MemoryPeak] = []
    smoke: SmokeEntry | None = None


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
    """The part that `tf2npu check --report` adds."""

    script: str
    steps: Count
    modes: list[CheckedMode]
    sources: str = ""
    is_stale: bool = False


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
    entries: list[EntryEntry] = []
