"""Fusion passes and the folding of constants that may be switched off one by one, and the file that does it."""

from __future__ import annotations

import json

from npu_formats.delta_debugging import Candidate, MinimalSubset
from npu_runtime.analysis.fusion_switches import FOLDING, FOLDING_OPTION, PASSES
from npu_runtime.analysis.minimal_settings import LeastChange
from npu_runtime.config import RuntimeConfig


def fusion_candidates(config: RuntimeConfig) -> list[Candidate]:
    """The passes that are on in a session: folding in a group of its own, then the others as PASSES has them; all need fusion."""
    found = [Candidate(FOLDING, FOLDING)]
    found += [Candidate(name, part) for part, names in PASSES.items() for name in names]
    return [one for one in found if config.fusion and one.name not in config.switched_off]


def fusion_change(found: MinimalSubset, config: RuntimeConfig) -> LeastChange:
    """The passes that were found, switched off by name beside those that the config has off; folding is an option of its own."""
    names = tuple(found.names or ())
    off = config.switched_off | set(names)
    parts = {part: {name: "off" for name in passes if name in off} for part, passes in PASSES.items()}
    switch = {part: states for part, states in parts.items() if states}
    files = {"fusion_switch.cfg": json.dumps({"Switch": switch}, indent=2) + "\n"} if switch else {}
    return LeastChange("passes", names, files, {FOLDING_OPTION: False} if FOLDING in names else {})
