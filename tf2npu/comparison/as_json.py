"""A comparison as JSON, for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tf2npu.comparison.comparison import Comparison
from tf2npu.comparison.metrics import ALGORITHMS
from tf2npu.comparison.origin import Origin
from tf2npu.comparison.rows import Row
from tf2npu.comparison.verdicts import EXACT, OF_16_BITS, OF_32_BITS

VERSION = 1
"""Version of the document; it counts up when a key changes its meaning or goes."""


def document(found: Comparison) -> dict[str, Any]:
    """The whole comparison.  A figure that is no number, or none at all, is null; `texts` has the table's."""
    origin = found.origin
    given = dict(found.thresholds.given)
    return {
        "version": VERSION,
        "dump": str(found.chosen.dump.path),
        "reference": str(found.chosen.reference.path),
        "graph": str(found.graph.path) if found.graph is not None else None,
        "step": found.chosen.dump.step,
        "notes": found.notes,
        "unreadable": [{"path": str(error.path), "reason": error.reason} for error in found.unreadable],
        "thresholds": {
            "16 bits": OF_16_BITS | given, "32 bits": OF_32_BITS | given, "integers and booleans": EXACT | given
        },
        "counts": dict(sorted(found.counts().items())),
        "origin": _origin(origin) if origin is not None else None,
        "first_difference": _row(origin.row) if origin is not None else None,
        "rows": list(map(_row, found.rows)),
    }  # fmt: skip


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "node": origin.name, "type": origin.op_type, "line": origin.line or None, "is_outside": origin.is_outside,
    }  # fmt: skip


def _row(row: Row) -> dict[str, Any]:
    return {
        "index": row.index, "operator": row.operator, "type": row.op_type, "device": row.device, "reference": row.reference,
        "tensor": row.tensor, "shape": row.shape, "types": [row.device_type, row.reference_type], "line": row.line or None,
        "figures": {name: _number(row.values.get(name)) for name in ALGORITHMS if name != "StandardDeviation"},
        "texts": dict(zip(ALGORITHMS, row.figures, strict=True)), "reason": row.reason, "measures": dict(_measures(row)),
        "verdict": row.verdict, "why": row.why, "missed": [name for name, _, _ in row.missed],
    }  # fmt: skip


def _measures(row: Row) -> Iterator[tuple[str, Any]]:
    found = row.measures
    if found is not None:
        yield "ulp_worst", found.ulp_worst
        yield "ulp_median", found.ulp_median
        yield "share_outside", found.share_outside
        yield "nan_on_one_side", found.n_nan
        yield "infinity_on_one_side", found.n_infinite
        yield "signal_to_noise_db", _number(found.signal_to_noise_db)


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
