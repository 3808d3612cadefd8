"""A run as report.json holds it: checked before it is written, since a schema that is not kept helps nobody."""

from __future__ import annotations

from typing import Any

import msgspec

from tf2npu.report.errors import NotAReport
from tf2npu.report.model.document import Run

RunDocument = dict[str, Any]
"""The document that report.json holds under "run"; its form is in the schema."""


def checked(run: RunDocument) -> RunDocument:
    """The same run.  Raises: NotAReport where it holds a key or a value that the schema does not know."""
    try:
        kept = msgspec.to_builtins(msgspec.convert(run, Run))
    except msgspec.ValidationError as error:
        raise NotAReport(f"what was run does not fit the schema: {error}") from None
    if unknown := first_unknown(run, kept, "$.run"):
        raise NotAReport(f"what was run does not fit the schema: it knows no `{unknown}`")
    return run


def of_this_version(run: RunDocument) -> RunDocument:
    """A run that was read, without keys of a later version, which our schema does not know."""
    kept = msgspec.to_builtins(msgspec.convert(run, Run))
    return {key: kept[key] for key in run if key in kept}


def first_unknown(given: Any, kept: Any, where: str) -> str:
    """The first key of a document that its types leave out, or ""; where: name of the document."""
    if isinstance(given, dict):
        inner = (
            f"{where}.{key}" if key not in kept else first_unknown(value, kept[key], f"{where}.{key}")
            for key, value in given.items()
        )
    elif isinstance(given, list | tuple):
        inner = (first_unknown(one, other, f"{where}[{n}]") for n, (one, other) in enumerate(zip(given, kept, strict=True)))
    else:
        return ""
    return next(filter(None, inner), "")
