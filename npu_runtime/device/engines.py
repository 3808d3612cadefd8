"""Engines of the chip: who runs a node of the graph.

Source: the graph engine's configuration lists an engine for tensor operators (AI cores, on split chips also their vector cores
alone), one for the AI CPU, one for collectives, one for what the runtime itself does, and a local one that launches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from npu_formats.device.chip import Chip
from npu_formats.device.op_table import tensorflow_ops

CORE, VECTOR, AI_CPU, COLLECTIVE, RUNTIME, LOCAL = "AI Core", "vector core", "AI CPU", "HCCL", "runtime", "local"
ENGINES = (CORE, VECTOR, AI_CPU, COLLECTIVE, RUNTIME, LOCAL)

_SOURCES = frozenset({"Const", "_Constant", "_Feed", "_LoopInput", "Placeholder", "PlaceholderV2", "NoOp", "ControlTrigger"})
_VARIABLES = frozenset({"VarHandleOp", "VariableV2", "Variable"})
_SAME_MEMORY = frozenset({"Reshape", "Squeeze", "Identity", "RefIdentity"})
_LOCAL = _SOURCES | _VARIABLES | _SAME_MEMORY
"""Ops without a launch beside those of the table.  Source: the operators of the graph engine's local store."""
_RUNTIME = frozenset({"Switch", "RefSwitch", "Merge", "RefMerge", "_While"})
"""Source: the runtime's stream switches, merges and active streams do what conditionals and loops need."""
COLLECTIVE_MARK = "Hcom"
_LIMITED = {
    "AIcoreEngine": CORE, "VectorEngine": VECTOR, "DNN_VM_AICPU": AI_CPU, "DNN_VM_AICPU_ASCEND": AI_CPU, "DNN_HCCL": COLLECTIVE,
}  # fmt: skip
"""Engines by the names that the option stream_max_parallel_num knows them by.  Source: the graph engine's configuration."""


def engine_of(op: str, attrs: Mapping[str, Any], unit: str, chip: Chip) -> str:
    """The engine of a node.

    op: TensorFlow's or one of ours.  attrs: its attributes; `_npu_op` names the operator whose body a node belongs to.
    unit: of its kernel; where cube and vector units are separate cores, what needs no cube is for the vector cores.
    """
    if str(attrs.get("_npu_op", "")).startswith(COLLECTIVE_MARK):
        return COLLECTIVE
    if op in _RUNTIME:
        return RUNTIME
    row = tensorflow_ops().get(op)
    if op in _LOCAL or (row is not None and row.otherwise == "local"):
        return LOCAL
    if row is not None and row.otherwise == "aicpu":
        return AI_CPU
    return VECTOR if chip.n_vector_cores > chip.n_cores and unit != "cube" else CORE


def stream_limits(option: str) -> tuple[dict[str, int], tuple[str, ...]]:
    """The number of streams that each engine may use at once, and notes for the user on parts that are left out.

    option: "DNN_VM_AICPU:10,AIcoreEngine:1", as the session option stream_max_parallel_num has it.
    """
    limits: dict[str, int] = {}
    notes = []
    for part in filter(None, (part.strip() for part in option.split(","))):
        found = re.fullmatch(r"(\w+):([1-9]\d*)", part)
        if found and found[1] in _LIMITED:
            limits[_LIMITED[found[1]]] = int(found[2])
        else:
            known = ", ".join(_LIMITED)
            notes.append(f"stream_max_parallel_num: {part!r} is left out; write ENGINE:NUMBER, ENGINE one of {known}")
    return limits, tuple(notes)
