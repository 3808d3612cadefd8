"""The request to a process to write its graphs, out of the environment.

Source of variables, stages and folders: the vendor's documents of the variables that dump graphs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_runtime.device.device_number import device_number

BEGIN, SHAPES, OPTIMIZED, BUILD = "PreRunBegin", "AfterInfershape", "PreRunAfterOptimizeOriginalGraph", "Build"
STAGES = (BEGIN, SHAPES, OPTIMIZED, BUILD)
"""Stages of a compilation, in order, by the graph compiler's names."""
PROTO, ONNX, READABLE = "ge_proto", "onnx", "readable"
FORMATS = (PROTO, ONNX, READABLE)
WITH_WEIGHTS, WITHOUT_WEIGHTS, RELATIONS = 1, 2, 3
"""Values of DUMP_GE_GRAPH: the whole graph, the graph without the values of constants, and the edges alone."""
_LEVELS = {"1": STAGES, "2": STAGES, "3": (BUILD,), "4": (BEGIN,)}
"""All stages, the listed ones, the last and the first: the stages that there are here are all among the listed ones."""


@dataclass(frozen=True)
class GraphRequest:
    """stages: those written.  formats: of each.  content: see WITH_WEIGHTS.  folder: where they go.  prints_model: whether
    TensorFlow's graph is written too.  wants_all: whether the last stage is asked for itself, and not only beside a dump.
    """

    stages: tuple[str, ...]
    formats: tuple[str, ...]
    content: int
    folder: Path
    prints_model: bool
    wants_all: bool


def requested(environment: Mapping[str, str], has_dump: bool) -> tuple[GraphRequest | None, tuple[str, ...]]:
    """The request, None where nothing is asked for, and lines on what is wrong with it.

    has_dump: whether the session dumps tensors, for which a comparison needs the graph that was built.
    """
    notes: list[str] = []
    content = _content(environment, notes)
    prints_model = environment.get("PRINT_MODEL") == "1"
    if not (content or prints_model or has_dump):
        return None, tuple(notes)
    stages = _stages(environment, notes) if content else ()
    formats = _formats(environment, notes) if content else (PROTO,)
    wants_all = BUILD in stages
    if has_dump and not wants_all:
        stages = (*stages, BUILD)
    if has_dump and PROTO not in formats:
        formats = (PROTO, *formats)
    content = content or WITHOUT_WEIGHTS
    return GraphRequest(stages, formats, content, _folder(environment), prints_model, wants_all), tuple(notes)


def _content(environment: Mapping[str, str], notes: list[str]) -> int:
    text = environment.get("DUMP_GE_GRAPH", "")
    if text in ("1", "2", "3"):
        return int(text)
    if text not in ("", "0"):
        notes.append(f"DUMP_GE_GRAPH={text} writes no graphs: it takes 1 (all), 2 (no weights) or 3 (who reads whom)")
    return 0


def _stages(environment: Mapping[str, str], notes: list[str]) -> tuple[str, ...]:
    """A number, or parts of names of stages with | between."""
    text = environment.get("DUMP_GRAPH_LEVEL", "") or "2"
    if text in _LEVELS:
        return _LEVELS[text]
    parts = [part.strip() for part in text.split("|") if part.strip()]
    for part in parts:
        if not any(part in stage for stage in STAGES):
            notes.append(f"DUMP_GRAPH_LEVEL={text}: {part} is part of no stage that there is here: {', '.join(STAGES)}")
    return tuple(stage for stage in STAGES if any(part in stage for part in parts))


def _formats(environment: Mapping[str, str], notes: list[str]) -> tuple[str, ...]:
    text = environment.get("DUMP_GRAPH_FORMAT", "") or f"{PROTO}|{ONNX}"
    parts = [part.strip() for part in text.split("|") if part.strip()]
    for part in parts:
        if part not in FORMATS:
            notes.append(f"DUMP_GRAPH_FORMAT={text}: {part} is no format: it takes {', '.join(FORMATS)}")
    return tuple(name for name in FORMATS if name in parts)


def _folder(environment: Mapping[str, str]) -> Path:
    """The folder for graphs: ASCEND_DUMP_PATH, one of the process in DUMP_GRAPH_PATH, ASCEND_WORK_PATH, or the current one."""
    if environment.get("ASCEND_DUMP_PATH"):
        return Path(environment["ASCEND_DUMP_PATH"])
    if environment.get("DUMP_GRAPH_PATH"):
        return Path(environment["DUMP_GRAPH_PATH"], f"pid_{os.getpid()}_deviceid_{device_number(environment)}")
    return Path(environment.get("ASCEND_WORK_PATH") or ".")


def model_folder(environment: Mapping[str, str], request: GraphRequest) -> Path:
    """The folder for TensorFlow's graphs: that of the others, or one below NPU_COLLECT_PATH."""
    collected = environment.get("NPU_COLLECT_PATH")
    own = f"{os.getpid()}_{device_number(environment)}"
    return Path(collected, "extra-info", "graph", own) if collected else request.folder
