"""check.json: what a check found, for programs. check.schema.json beside this file says the same to them.

What is not known is null, "" or empty. Errors are relative, 1 is 100 %; NaN and infinities are texts, as JSON has no numbers
for them. Two checks that found the same give the same bytes.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from npu_formats.documents.check_record import (
    Count,
    Failure,
    FirstDifference,
    Framework,
    LineNumber,
    Randomness,
    Record,
    Run,
    What,
)
from tf2npu.accuracy_check import verdicts
from tf2npu.accuracy_check.change_files import names_by_label
from tf2npu.accuracy_check.verdicts import ExitCode, Verdict

VERSION = "1.1"
SCHEMA_FILE = Path(__file__).parent / "check.schema.json"

Number = float | Literal["NaN", "Infinity", "-Infinity"] | None
Cause = Literal["conversion", "kernel", "folding", "fusion", "precision", "overflow", "randomness"]


class Difference(Struct, frozen=True):
    """The first node in the order of execution that makes an error of its own.

    node: its name in the user's graph.  file, line: of the original; "" and 0 where they are not known.
    error: distance of its result from the original's.  own_error: distance from what TensorFlow makes of the same inputs.
    input_error: distance of its inputs from the original's.  what: what is off; "" for a source of randomness.
    original, here: a setting in the original and in this run.  For PyTorch and MindSpore, node is a parameter, a module or a
    setting.
    """

    node: str
    op: str
    dtype: str
    file: str
    line: LineNumber
    step: Count
    error: Number
    own_error: Number
    input_error: Number
    what: Literal[""] | What
    original: str = ""
    here: str = ""


class ModeEntry(Struct, frozen=True):
    """A precision mode; the graph's own types are `must_keep_origin_dtype`.

    run: the one that decides, whose figures these are: the first of its runs that does not agree, else the last.
    loss: of each step.  tolerance, update_tolerance: up to which a run agrees.  least_change: names of nodes, operator types,
    fusion passes or rules, as least_change_kind says; empty where none is known.  least_change_is_proven: a run with it was
    made.  files: the change for the device's options, beside check.json.
    """

    mode: str
    run: str
    runs: list[str]
    verdict: Verdict
    loss: list[Number]
    tolerance: Number
    loss_error: Number
    update_error: Number
    update_tolerance: Number
    first_difference: Difference | None
    cause: Cause | None
    least_change: list[str]
    least_change_kind: Literal["", "nodes", "types", "passes", "rules"]
    least_change_loss: list[Number]
    least_change_loss_error: Number
    least_change_is_proven: bool
    files: list[str]
    failure: Failure | None


class RunEntry(Struct, frozen=True):
    """A run, in the order in which neighbours differ in one thing.  compared, agreeing: numbers of nodes."""

    run: str
    mode: str
    verdict: Verdict
    loss: list[Number]
    tolerance: Number
    loss_error: Number
    update_error: Number
    update_tolerance: Number
    compared: Count
    agreeing: Count
    failure: Failure | None


class Document(Struct, frozen=True):
    """A whole check.

    loss: name of the loss's tensor.  self_distance: of TensorFlow's losses from its own with other threads and kernels.
    stopped: why a check that is not complete is not.  unmatched: tensors that the original has none for.
    framework: of the script; for PyTorch and MindSpore, nodes are its parameters.
    """

    version: str
    script: str
    soc: str
    steps: Count
    loss: str
    self_distance: Number
    exit_code: ExitCode
    is_complete: bool
    stopped: str
    randomness: list[Randomness]
    modes: list[ModeEntry]
    runs: list[RunEntry]
    unmatched: Count
    framework: Framework


def document(record: Record) -> Document:
    """The document of a record."""
    files = names_by_label(record)
    return Document(
        VERSION, record.script, record.soc, record.steps, record.loss, number(record.self_distance),
        verdicts.exit_code(record), record.is_complete, record.stopped, list(record.randomness),
        [_mode(record, mode, files) for mode in verdicts.modes(record)], [_run(run) for run in record.runs], record.unmatched,
        record.framework,
    )  # fmt: skip


def pieces(made: Document) -> Iterator[str]:
    """The JSON text of a document: pure ASCII, with a final line end."""
    yield json.dumps(msgspec.to_builtins(made), indent=1, allow_nan=False)
    yield "\n"


def schema() -> dict[str, Any]:
    """The JSON schema of what `pieces` writes."""
    made: dict[str, Any] = msgspec.json.schema(Document)
    for part in made["$defs"].values():
        part["description"] = inspect.cleandoc(part["description"])
        part["required"] = list(part["properties"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "tf2npu check", **made}


def number(value: float | None) -> Number:
    """A figure as JSON holds it."""
    if value is None or math.isfinite(value):
        return None if value is None else float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _numbers(values: Sequence[float | None]) -> list[Number]:
    return [number(value) for value in values]


def _run(run: Run) -> RunEntry:
    return RunEntry(
        run.run, run.mode, verdicts.verdict_of(run), _numbers(run.loss), number(run.tolerance),
        number(run.loss_error), number(run.update_error), number(run.update_tolerance), run.compared, run.agreeing, run.failure,
    )  # fmt: skip


def _mode(record: Record, mode: verdicts.Mode, files: dict[str, list[str]]) -> ModeEntry:
    run = mode.decides
    change = run.least_change if verdicts.names_causes(record) else None
    is_run = mode.verdict != verdicts.NOT_RUN
    return ModeEntry(
        mode=mode.name, run=run.run if is_run else "", runs=[one.run for one in mode.runs], verdict=mode.verdict,
        loss=_numbers(run.loss) if is_run else [], tolerance=number(run.tolerance), loss_error=number(run.loss_error),
        update_error=number(run.update_error), update_tolerance=number(run.update_tolerance),
        first_difference=_first(record, run, mode.verdict),
        cause=verdicts.cause_of(record, run) or None,
        least_change=list(change.names) if change else [], least_change_kind=change.kind if change else "",
        least_change_loss=_numbers(change.loss) if change else [],
        least_change_loss_error=number(change.loss_error) if change else None,
        least_change_is_proven=bool(change and change.is_proven), files=files.get(run.label, []), failure=run.failure,
    )  # fmt: skip


def _first(record: Record, run: Run, verdict: str) -> Difference | None:
    """The run's own first difference, or what is random where that is all that is known."""
    if verdict != verdicts.DIFFERS:
        return None
    if run.first is not None:
        return _difference(run.first)
    if record.randomness:
        source = record.randomness[0]
        return Difference(source.node, source.op, "", source.file, source.line, 0, None, None, None, "")
    return None


def _difference(first: FirstDifference) -> Difference:
    return Difference(
        first.node, first.op, first.dtype, first.file, first.line, first.step,
        number(first.error), number(first.own_error), number(first.input_error), first.what, first.original, first.here,
    )  # fmt: skip
