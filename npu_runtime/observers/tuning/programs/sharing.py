"""Banks that a team shares: what is in one, several merged, all of a folder in one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npu_formats.device.chip import chip_names, load_chip
from npu_formats.files.whole_file import read_bounded
from npu_runtime.cost.choice import choice_of, cost_with
from npu_runtime.errors import FailedPrecondition, InvalidArgument
from npu_runtime.observers.tuning.bank.document import MOST_BYTES, Damaged, need, parse, render
from npu_runtime.observers.tuning.bank.operator_bank import OPERATORS, bank_folder, custom_file
from npu_runtime.observers.tuning.bank.operator_entry import OperatorEntry, entry_of, value_of
from npu_runtime.observers.tuning.programs.operator_key import work_of

EXPORT = "operators of several chips"
"""Kind of the one file that a team shares."""
Banks = dict[str, dict[str, OperatorEntry]]
"""Entries by chip and key."""


class NoBank(Exception):
    """A file or folder that was named is none; the message says why."""


@dataclass
class Merged:
    """added, replaced: entries.  kept: that were better before.  refused: that no chip here can use.  written: files.  unwritten:
    files that could not be, which was told.
    """

    added: int = 0
    replaced: int = 0
    kept: int = 0
    refused: int = 0
    written: list[Path] = field(default_factory=list)
    unwritten: list[Path] = field(default_factory=list)


def load(path: Path) -> Banks:
    """The entries of an exported file, of a bank file, or of all bank files of a folder.  Raises: NoBank."""
    if path.is_dir():
        names = [f"{soc}_operators.json" for soc in chip_names()]
        found: Banks = {}
        for name in names:
            if (path / name).exists() or (path / name).is_symlink():
                found.update(_load_file(path / name))
        if not found:
            raise NoBank(f"{path}: holds no bank; `tf2npu tune SCRIPT` fills one")
        return found
    return _load_file(path)


def _load_file(path: Path) -> Banks:
    try:
        data = read_bounded(path.parent, path.name, MOST_BYTES)
    except OSError as error:
        raise NoBank(f"{path}: cannot be read: {error.strerror or error}") from None
    if data is None:
        raise NoBank(f"{path}: there is no such file")
    problem: Damaged | None = None
    for soc in ("", *chip_names()):
        try:
            return _exported(data) if not soc else {soc: dict(parse(data, OPERATORS, {"soc": soc}, entry_of))}
        except Damaged as error:
            problem = error if problem is None or not str(error).startswith("it is for") else problem
    raise NoBank(f"{path}: {problem}")


def _exported(data: bytes) -> Banks:
    found: Banks = {}
    for soc, key, entry in parse(data, EXPORT, {}, _exported_entry):
        found.setdefault(soc, {})[key] = entry
    return found


def _exported_entry(value: Any) -> tuple[str, str, OperatorEntry]:
    need(isinstance(value, dict) and value.get("soc") in chip_names(), "chip")
    key, entry = entry_of({name: item for name, item in value.items() if name != "soc"})
    return value["soc"], key, entry


def export(banks: Banks) -> str:
    """The text of one file with all banks."""
    entries = [{"soc": soc, **value_of(banks[soc][key])} for soc in sorted(banks) for key in sorted(banks[soc])]
    return render(EXPORT, {}, entries)


def own_banks(environment: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """The folder of the custom bank of each chip.  Raises: NoBank where the user has none."""
    try:
        return {soc: bank_folder(soc, environment) for soc in chip_names()}
    except FailedPrecondition as problem:
        raise NoBank(problem.message) from None


def own_entries() -> Banks:
    """The entries of the user's custom banks.  Raises: NoBank."""
    files = [folder / f"{soc}_operators.json" for soc, folder in own_banks().items()]
    return {soc: entries for file in files if file.exists() for soc, entries in load(file).items()}


def merge(sources: Sequence[Banks], folders: Mapping[str, Path], tell: Callable[[str], None]) -> Merged:
    """Put the entries of sources into the custom banks.  Of two for one operator the faster one stays, by the cost model of this
    release; what no chip can do is left out.  tell: takes warnings of damaged files."""
    done = Merged()
    for soc in chip_names():
        new: dict[str, OperatorEntry] = {}
        for source in sources:
            for key, entry in source.get(soc, {}).items():
                checked = _checked(entry, soc)
                if checked is None:
                    done.refused += 1
                elif key not in new or checked.us < new[key].us:
                    new[key] = checked
        if new:
            _merge_into(soc, new, folders[soc], done, tell)
    return done


def _merge_into(soc: str, new: Mapping[str, OperatorEntry], folder: Path, done: Merged, tell: Callable[[str], None]) -> None:
    def merged(stored: dict[str, OperatorEntry]) -> dict[str, OperatorEntry]:
        for key, entry in new.items():
            before = stored.get(key) and _checked(stored[key], soc)
            done.added += before is None
            done.replaced += before is not None and entry.us < before.us
            done.kept += before is not None and entry.us >= before.us
            if before is None or entry.us < before.us:
                stored[key] = entry
        return stored

    file = custom_file(soc, folder, tell)
    (done.written if file.update(merged) else done.unwritten).append(file.path)


def _checked(entry: OperatorEntry, soc: str) -> OperatorEntry | None:
    """The entry with its time by this release; None for one that the chip cannot do."""
    chip = load_chip(soc)
    try:
        work = work_of(entry.operator)
        return OperatorEntry(entry.operator, entry.record, cost_with(work, chip, choice_of(entry.record, work, chip)).us)
    except (InvalidArgument, ArithmeticError):
        return None


def rows(banks: Banks) -> list[dict[str, Any]]:
    """One row an entry, for a table: chip, type, shapes, the record, microseconds now and of the default."""
    return [_row(soc, banks[soc][key]) for soc in sorted(banks) for key in sorted(banks[soc])]


def _row(soc: str, entry: OperatorEntry) -> dict[str, Any]:
    checked = _checked(entry, soc)
    default = None if checked is None else cost_with(work_of(entry.operator), load_chip(soc), None).us
    operator = entry.operator
    return {
        "soc": soc, "op_type": operator["op_type"], "inputs": operator["inputs"], "outputs": operator["outputs"],
        "record": dict(entry.record), "us": None if checked is None else checked.us, "default_us": default,
    }  # fmt: skip
