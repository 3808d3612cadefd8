"""The bank of this machine's kernels: which way of a kernel was fastest, by processor, cores and numpy version."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from npu_runtime.observers.tuning.bank.bank_file import BankFile, Tell
from npu_runtime.observers.tuning.bank.document import LARGEST_NUMBER, MOST_TEXT, canonical, name, need

KERNELS = "kernels"
"""Kind of a file with choices of this machine's kernels."""
MOST_KEY = 2048
"""Characters of the key of a choice: shapes and attributes of one kernel."""
Choice = str | int


@dataclass(frozen=True)
class Machine:
    """processor: its model.  cores: that this process may use.  numpy: version."""

    processor: str
    cores: int
    numpy: str


@cache
def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(_processor()[:MOST_TEXT], len(os.sched_getaffinity(0)), np.__version__)


def _processor() -> str:
    """The model's name as the kernel tells it, else the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(found, "") or platform.processor() or platform.machine()


class MachineBank:
    """Choices of kernels on one machine, in the folder of a bank.  Nothing is read before the first question."""

    def __init__(self, folder: Path, tell: Tell, machine: Machine | None = None) -> None:
        subject = asdict(machine or this_machine())
        digest = hashlib.sha256(canonical(subject).encode()).hexdigest()[:16]
        self.file: BankFile[tuple[str, str, Choice]] = BankFile(
            folder, f"kernels_{digest}.json", KERNELS, subject, _entry_of, _value_of, tell
        )
        self._known: dict[str, tuple[str, str, Choice]] | None = None

    def get(self, kind: str, key: str) -> Choice | None:
        """The stored choice: a text or a whole number, None where there is none.  kind: of the choice.  key: of the kernel.

        Whoever asks checks that it is one of the ways that there are: the file may be another's.
        """
        if self._known is None:
            self._known = self.file.read()
        found = self._known.get(canonical([kind, key]))
        return None if found is None else found[2]

    def put(self, kind: str, key: str, choice: Choice) -> bool:
        """Keep a choice.  Returns: whether the file was written.  Raises: Damaged for what no bank may hold."""
        return self.put_all([(kind, key, choice)])

    def put_all(self, choices: list[tuple[str, str, Choice]], replaces: bool = True) -> bool:
        """Keep several choices with one write: (kind, key, choice) each.  Raises: Damaged, as above.

        replaces: whether a choice takes the place of what another process has put there meanwhile.
        """
        new = dict(_entry_of(list(choice)) for choice in choices)
        self._known = {**(self._known if self._known is not None else self.file.read()), **new}
        return bool(new) and self.file.update(lambda stored: {**stored, **new} if replaces else {**new, **stored})


def _entry_of(value: Any) -> tuple[str, tuple[str, str, Choice]]:
    need(isinstance(value, list) and len(value) == 3 and name(value[0]), "kernel")
    kind, key, choice = value
    need(isinstance(key, str) and 0 < len(key) <= MOST_KEY, "key")
    is_whole = isinstance(choice, int) and not isinstance(choice, bool) and abs(choice) <= LARGEST_NUMBER
    need(is_whole or name(choice), "choice")
    return canonical([kind, key]), (kind, key, choice)


def _value_of(entry: tuple[str, str, Choice]) -> list[Any]:
    return list(entry)
