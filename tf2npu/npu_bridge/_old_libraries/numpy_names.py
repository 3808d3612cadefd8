"""Names that numpy dropped.

Source: release notes of numpy 1.18 (rank, which was ndim), 1.20 (aliases of Python's types), 1.23, 1.24, 1.25 and 2.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from npu_bridge._old_libraries.names import Maker, offer
from npu_bridge._tf1.journal import Journal

_PYTHON_TYPES = {"bool": bool, "complex": complex, "float": float, "int": int, "long": int, "object": object, "str": str,
                 "unicode": str}  # fmt: skip
_RENAMED = {
    "Inf": "inf", "Infinity": "inf", "NINF": None, "NaN": "nan", "PINF": "inf", "alltrue": "all", "bool8": "bool_",
    "cumproduct": "cumprod", "float_": "float64", "in1d": "isin", "infty": "inf", "int0": "intp", "product": "prod",
    "rank": "ndim", "row_stack": "vstack", "sometrue": "any", "uint0": "uintp", "unicode_": "str_",
}  # fmt: skip


def asscalar(a: Any) -> Any:
    """The one element of an array as a Python scalar."""
    return a.item()


def add(journal: Journal) -> None:
    """Bring back those that this numpy does not have."""
    names: dict[str, tuple[str, Maker]] = {
        name: (f"{kind.__name__}, or numpy's own type of a certain size", lambda kind=kind: kind)
        for name, kind in _PYTHON_TYPES.items()
    }
    names["asscalar"] = ("a.item()", lambda: asscalar)
    names["NINF"] = ("-np.inf", lambda: -np.inf)
    for old, new in _RENAMED.items():
        if new is not None:
            names[old] = (f"np.{new}", lambda new=new: getattr(np, new))
    missing = {name: value for name, value in names.items() if name not in vars(np)}
    offer(journal, np, missing)
