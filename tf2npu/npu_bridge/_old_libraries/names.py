"""Old names of a module, found when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal

Maker = Callable[[], Any]


def offer(journal: Journal, module: ModuleType, names: Mapping[str, tuple[str, Maker]]) -> None:
    """Let ``module`` answer for ``names``: old name -> (what to write today, a function that gives the value).

    A name that the module still has is left to it.
    """
    before = vars(module).get("__getattr__")

    def find(name: str) -> Any:
        if name in names:
            instead, make = names[name]
            once(f"{module.__name__}.{name} is gone since this script was written; here it works, today write {instead}")
            return make()
        if before is not None:
            return before(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    journal.set(vars(module), "__getattr__", find)
