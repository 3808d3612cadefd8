"""The operator bank of a chip: what ships with the package and what was tuned here count as one; only the latter is written."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from pathlib import Path

from npu_runtime.errors import FailedPrecondition
from npu_runtime.observers.tuning.bank.bank_file import BankFile, Tell
from npu_runtime.observers.tuning.bank.document import parse
from npu_runtime.observers.tuning.bank.operator_entry import OperatorEntry, entry_of, value_of

OPERATORS = "operators"
"""Kind of a file with tunings for a chip."""
BANK_VARIABLE, CACHE_VARIABLE = "TUNE_BANK_PATH", "ASCEND_CACHE_PATH"
"""Variables that name the folder of banks, and the folder of all that the vendor's tools keep."""


def bank_folder(soc: str, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of a chip's custom bank.  Source: the vendor's documents of AOE name the three places in this order.

    Raises: FailedPrecondition where nothing names a folder and the user has no home, as in many containers.
    """
    if environment.get(BANK_VARIABLE):
        return Path(environment[BANK_VARIABLE])
    if environment.get(CACHE_VARIABLE):
        return Path(environment[CACHE_VARIABLE]) / "aoe_data" / soc
    return _home(environment) / "Ascend" / "latest" / "data" / "aoe" / "custom" / "op" / soc


def _home(environment: Mapping[str, str]) -> Path:
    try:
        return Path(environment.get("HOME") or pwd.getpwuid(os.geteuid()).pw_dir)  # Path.home() takes an empty HOME for /
    except KeyError:
        raise FailedPrecondition(
            f"there is no place for the bank, as HOME is not set and the system knows no user {os.getuid()}: name a folder in "
            f"{BANK_VARIABLE}"
        ) from None


def custom_file(soc: str, folder: Path, tell: Tell) -> BankFile[OperatorEntry]:
    """The file of a chip's custom bank in a folder."""
    return BankFile(folder, f"{soc}_operators.json", OPERATORS, {"soc": soc}, entry_of, value_of, tell)


def built_in(soc: str) -> dict[str, OperatorEntry]:
    """The entries that the package ships for a chip, by key; empty for a chip without any."""
    place = resources.files("npu_runtime.observers.tuning.bank") / "built_in" / f"{soc}.json"
    if not place.is_file():
        return {}
    return dict(parse(place.read_bytes(), OPERATORS, {"soc": soc}, entry_of))


class OperatorBank:
    """Both banks of a chip.  Nothing is read before the first question."""

    def __init__(self, soc: str, folder: Path, tell: Tell) -> None:
        self.custom = custom_file(soc, folder, tell)
        self._soc = soc
        self._known: dict[str, OperatorEntry] | None = None

    def get(self, key: str) -> OperatorEntry | None:
        """The entry of an operator; the custom bank wins."""
        if self._known is None:
            self._known = {**built_in(self._soc), **self.custom.read()}
        return self._known.get(key)

    def put(self, entries: Iterable[OperatorEntry], is_better: Callable[[OperatorEntry, OperatorEntry], bool]) -> bool:
        """Keep entries in the custom bank.

        is_better(new, stored): asked where another process has stored one meanwhile; what this bank has seen itself is replaced.
        Returns: whether the file was written.  Raises: Damaged for an entry that no bank may hold.
        """
        seen, new = self._known or {}, dict(entry_of(value_of(entry)) for entry in entries)

        def merge(stored: dict[str, OperatorEntry]) -> dict[str, OperatorEntry]:
            for key, entry in new.items():
                other = stored.get(key)
                if other is None or other == seen.get(key) or is_better(entry, other):
                    stored[key] = entry
            return stored

        if not new:
            return False
        is_written = self.custom.update(merge)
        self._known = {**seen, **new}
        return is_written
