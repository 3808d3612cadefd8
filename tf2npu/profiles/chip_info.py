"""The chip's facts that a profiler noted in info.json.N: its name where it says one, its cores and its clock."""

from __future__ import annotations

import json
import re
from typing import Any

from npu_formats.documents.prediction import Chip
from tf2npu.profiles.tree import ProfileTree

_MOST_BYTES = 1 << 20
"""Bytes of info.json.N that are parsed; it is one line."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}\Z")
"""The name of a chip, such as Ascend910B4-1."""


def chip_of(tree: ProfileTree, device: str) -> tuple[str | None, Chip]:
    """The chip's name, None where no file has it, and its facts.

    A device whose number is another in tables than in the file's name has the file that is alone.
    Another release has another form, and the rest of the profile reads without it: what is not as expected is passed over.
    """
    name, chip, files = None, Chip(), tree.files["info"]
    mine = [path for path in files if path.endswith(f".{device}")]
    for path in mine or (files if not device or len(files) == 1 else ()):
        try:
            info = json.loads(tree.read(path)[:_MOST_BYTES])
        except (ValueError, RecursionError):
            continue
        name = name or _name(info)
        chip = _facts(info) if chip == Chip() else chip
    return name, chip


def _name(info: Any) -> str | None:
    name = info.get("hwtype") if isinstance(info, dict) else None
    return name if isinstance(name, str) and _NAME.match(name) else None


def _facts(info: Any) -> Chip:
    try:
        facts = info["DeviceInfo"][0]
        cores, mhz = int(facts["ai_core_num"]), float(facts["aic_frequency"])
    except (ValueError, KeyError, IndexError, TypeError, OverflowError):
        return Chip()
    return Chip(n_cores=cores, clock_mhz=mhz) if 0 < cores < 10_000 and 0 < mhz < 1e6 else Chip()
