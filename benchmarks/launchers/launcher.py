"""One published launcher: where it is, what it is given, and which of its counts are cut."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PUBLISHED_RANKS = 8
"""Ranks that these launchers are written for."""
_RANK_COUNTS = re.compile(rf"\b(RANK_SIZES?|CM_WORKER_SIZE)={PUBLISHED_RANKS}\b")
"""The lines of a launcher that say how many ranks it starts."""
_RANKS_OF_TABLE = re.compile(r"RANK_TABLE_FILE=(\S+\.json)")
Edits = tuple[tuple[str, str, str], ...]
"""Pairs of a text and what stands for it, each with its file below the model's folder; for counts of steps and sizes only."""


@dataclass(frozen=True)
class Launcher:
    """name: for the table.  folder: of the model, below `TensorFlow/built-in`.  script: below the folder.

    data: makes the data in a folder.  arguments: of the script, with {data} for that folder.  cuts: where no argument does.
    loss: a pattern of the lines of a rank's log that show a step, its group the number.
    """

    name: str
    folder: str
    script: str
    data: Callable[[Path], None]
    loss: str
    arguments: tuple[str, ...] = ("--data_path={data}",)
    cuts: Edits = ()
    counts: Edits = field(default=())
    """As `cuts`, for two ranks: what else in this model says eight."""


def prepare(launcher: Launcher, checkout: Path, data: Path, ranks: int, place: Path) -> Path:
    """A copy of the model's folder in `place` with the counts cut.  Returns the script in it.

    Raises: FileNotFoundError without the folder; ValueError where a text to be cut is not in its file.
    """
    shutil.copytree(checkout / "TensorFlow" / "built-in" / launcher.folder, place)
    for name, old, new in launcher.cuts + (launcher.counts if ranks != PUBLISHED_RANKS else ()):
        _replace(place / name, old, new.format(ranks=ranks, data=data))
    script = place / launcher.script
    if ranks != PUBLISHED_RANKS:
        _set_ranks(script, ranks)
    return script


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    if old not in text:
        raise ValueError(f"{path}: {old!r} is not in it; this checkout is another one")
    path.write_text(text.replace(old, new), "utf-8")


def _set_ranks(script: Path, ranks: int) -> None:
    """Another number of ranks, as a user sets it: in the lines that say how many, and a table of the first devices."""
    text = script.read_text("utf-8")
    tables = set(_RANKS_OF_TABLE.findall(text))
    script.write_text(_RANK_COUNTS.sub(rf"\g<1>={ranks}", text), "utf-8")
    for name in sorted(tables):
        at_script = re.sub(r"\$\{?cur_path\}?", str(script.parent), name)
        published, here = (Path(re.sub(r"\$\{?RANK_SIZE\}?", str(count), at_script)) for count in (PUBLISHED_RANKS, ranks))
        if published.is_file():
            here.write_text(json.dumps(_first_devices(json.loads(published.read_text("utf-8")), ranks)), "utf-8")


def _first_devices(table: dict, ranks: int) -> dict:
    """The table of one server with its first devices."""
    for server in table.get("server_list", ()):
        server["device"] = server["device"][:ranks]
    for group in table.get("group_list", ()):
        group["device_count"] = str(ranks)
        for instance in group["instance_list"]:
            instance["devices"] = instance["devices"][:ranks]
    return table
