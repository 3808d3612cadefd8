"""The files of the least changes: under the names that the options' documentation has, as long as each is there once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npu_formats.documents.check_record import Record
from tf2npu.accuracy_check.verdicts import names_causes


@dataclass(frozen=True)
class ChangeFile:
    """A file beside check.json.  label: of the run that it mends."""

    label: str
    name: str
    text: str


def change_files(record: Record) -> list[ChangeFile]:
    """Every file, in the order of runs.  One that two runs have with other texts gets the run's label into its name."""
    found = list(_given(record))
    texts: dict[str, set[str]] = {}
    for file in found:
        texts.setdefault(file.name, set()).add(file.text)
    return [file if len(texts[file.name]) == 1 else ChangeFile(file.label, _labelled(file), file.text) for file in found]


def _given(record: Record) -> Iterator[ChangeFile]:
    if not names_causes(record):
        return
    for run in record.runs:
        if run.least_change is not None:
            yield from (ChangeFile(run.label, name, text) for name, text in run.least_change.files.items())


def _labelled(file: ChangeFile) -> str:
    """`customize_dtypes.cfg` of run E in a mode: `customize_dtypes.E_allow_mix_precision.cfg`, which nobody else can have."""
    stem, _, suffix = file.name.rpartition(".")
    return f"{stem}.{file.label.replace(' ', '_')}.{suffix}"


def names_by_label(record: Record) -> dict[str, list[str]]:
    """The names of the files for each run that has any."""
    names: dict[str, list[str]] = {}
    for file in change_files(record):
        names.setdefault(file.label, []).append(file.name)
    return names
