"""The parts that the checks of all frameworks share: what a check knows, and how it begins and ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from npu_formats.documents.check_record import Record, read_record
from npu_formats.escape import visible
from tf2npu.launch.check_places import localize
from tf2npu.launch.check_processes import MEMORY, CheckedScript, CheckProcesses
from tf2npu.launch.check_request import Wanted, say
from tf2npu.launch.temporary_conversion import TemporaryConversion


@dataclass
class ProgramCheck(ABC):
    """script: the original.  folder: of the check's own.  converted: None where the user has converted the script, or nobody."""

    script: Path
    wanted: Wanted
    folder: Path
    processes: CheckProcesses
    converted: TemporaryConversion | None
    _has_said_memory: bool = field(default=False, init=False)

    @abstractmethod
    def record(self) -> Record | None:
        """The record of the check; None, after a message with the reason, where there is nothing to compare."""

    def ended(self, original: CheckedScript) -> int:
        """The exit code of the original, which has half of the budget."""
        try:
            return original.wait(self.processes.half_time(), grace=0.0, meanwhile=self._say_memory)
        finally:
            original.stop()
            self._say_memory()

    def _say_memory(self) -> None:
        """Say, once, that the machine has less memory than the check needs, as soon as its first process knows that."""
        found = None if self._has_said_memory else self.processes.document(MEMORY)
        if found:
            self._has_said_memory = True
            needed, free = (f"{found[name] / 1e9:.1f} GB" for name in ("needed", "free"))
            say(
                f"the check of {self.script} needs about {needed} of memory and this machine has {free} free, so the system may "
                "end it: let the script take a smaller batch, or end other programs"
            )

    def refuse(self, why: str) -> None:
        """Say why there is nothing to compare, in a line that begins with the script's name."""
        click.echo(visible(f"tf2npu check: {self.script} {why}"), err=True)

    def whole(self, found: dict[str, Any]) -> Record:
        """The record with the names of scripts and chip, and with places as the user knows them."""
        found["script"], found["soc"] = str(self.script), self.wanted.soc
        found["migrated"] = str(self.wanted.migrated or "")
        localize(found, self.converted)
        return read_record(found)
