"""run.json: what one run showed, as `tf2npu run` writes it and `tf2npu report --run` reads it; the schema is one folder up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from npu_formats.files.bounded_read import MOST_REPORT_BYTES, read_at_most
from tf2npu.report.errors import NotAReport
from tf2npu.report.model.document import Count, Place, Run, Tool

VERSION = "1.0"
"""Version of run.json: a reader refuses another number before the point, and passes over keys that it does not know."""
RunRecord = dict[str, Any]
"""The document of run.json; its form is in run.schema.json."""
SCHEMA_FILE = Path(__file__).parents[1] / "run.schema.json"
_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\Z")
_MOST_OF_A_REASON = 120
"""Characters of a reason that are shown: it may hold the wrong value, of any length."""
_ColonLine = Annotated[str, Meta(max_length=4096)]


class DeviceLineEntry(Struct):
    place: _ColonLine
    count: Count


class HostLineEntry(Struct):
    place: _ColonLine
    reason: str
    count: Count
    example: str
    is_expected: bool


class InputEntry(Struct):
    input: str
    places: list[_ColonLine]
    count: Count
    shapes: list[str]
    steps: Count


class SessionLineEntry(Struct):
    place: _ColonLine
    ran_on: Literal["device", "TensorFlow"]
    is_left_open: bool


class ApiLineEntry(Struct):
    place: _ColonLine
    apis: list[str]


class ReachedFileEntry(Struct):
    path: str
    reached: list[tuple[Place, Place]]
    not_reached: list[tuple[Place, Place]]


class OperatorLimitEntry(Struct):
    place: _ColonLine
    operator: str
    kind: str
    message: str
    is_certain: bool
    count: Count


class CopyEntry(Struct):
    place: _ColonLine
    direction: str
    count: Count
    bytes: Count


class SwitchedEntry(Struct):
    place: _ColonLine
    name: str
    instead: str
    count: Count


class PeakEntry(Struct):
    device: Count
    bytes: Count
    capacity: Count
    place: _ColonLine


class Evidence(Struct):
    """The evidence of the run on lines of the files that it ran: "path:line", relative to the project's folder."""

    device_lines: list[DeviceLineEntry]
    host_lines: list[HostLineEntry]
    input_lines: list[InputEntry]
    session_lines: list[SessionLineEntry]
    reached_files: list[ReachedFileEntry]
    failed_at: list[_ColonLine]
    api_lines: list[ApiLineEntry] = []
    limit_lines: list[OperatorLimitEntry] = []
    copy_lines: list[CopyEntry] = []
    switched_lines: list[SwitchedEntry] = []
    memory_peaks: list[PeakEntry] = []


class RecordDocument(Struct):
    schema_version: str
    tool: Tool
    run: Run
    evidence: Evidence


def render(record: RunRecord) -> str:
    """The text of run.json; pure ASCII, as that of report.json."""
    return json.dumps(record, indent=1) + "\n"


def read(file: Path) -> RunRecord:
    """The record that a file holds.  Raises: OSError; NotAReport, whose text says why."""
    return load(read_at_most(file, MOST_REPORT_BYTES))


def load(data: str | bytes) -> RunRecord:
    """The record, without keys of later versions.  Raises: NotAReport for what is none, or is one of another version."""
    try:
        document = json.loads(data if isinstance(data, str) else data.decode("utf-8"))
    except RecursionError:
        raise NotAReport("it is not a run of tf2npu's: it is nested too deeply") from None
    except ValueError as error:
        raise NotAReport(f"it is not a run of tf2npu's: {str(error).partition(';')[0]}") from None
    _check_version(document)
    return _typed(document)


def checked_record(record: RunRecord) -> RunRecord:
    """The same record.  Raises: NotAReport where it holds what the schema does not know, which would be a defect of ours."""
    from tf2npu.report.runs.document import first_unknown

    kept = _typed(record)
    if unknown := first_unknown(record, kept, "$"):
        raise NotAReport(f"what was run does not fit the schema: it knows no `{unknown}`")
    return record


def _check_version(document: Any) -> None:
    version = document.get("schema_version") if isinstance(document, dict) else None
    if not isinstance(version, str) or not _VERSION.match(version) or "evidence" not in document:
        raise NotAReport("it is not a run of tf2npu's, as `tf2npu run --report run.json` writes it")
    if version.split(".")[0] != VERSION.split(".")[0]:
        raise NotAReport(f"it has schema version {version}, this tf2npu reads {VERSION}")


def _typed(document: RunRecord) -> RunRecord:
    """The document with the keys that are known; what was left out stays so."""
    try:
        kept = msgspec.to_builtins(msgspec.convert(document, RecordDocument))
    except msgspec.ValidationError as error:
        reason, at, where = str(error).rpartition(" - at ")
        raise NotAReport(f"it is not a run of tf2npu's: {reason[:_MOST_OF_A_REASON]}{at}{where}") from None
    except UnicodeEncodeError:  # half a character among the words of an enum
        raise NotAReport("it is not a run of tf2npu's: it holds half a character") from None
    return {**kept, "run": {key: kept["run"][key] for key in document["run"] if key in kept["run"]}}
