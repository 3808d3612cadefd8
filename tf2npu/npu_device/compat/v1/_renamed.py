"""Finds modules of npu_bridge below `npu_device.compat.v1`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

from npu_device._module_alias import ModuleAlias

OLD, NEW = "npu_bridge", "npu_device.compat.v1"


class _Modules:
    """A meta path finder that hands out npu_bridge's own modules, so that each is there once."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The module of npu_bridge with the same path; None for one that it does not have."""
        if not name.startswith(f"{NEW}."):
            return None
        old = OLD + name[len(NEW) :]
        found = find_spec(old)
        return ModuleSpec(name, ModuleAlias(old), is_package=found.submodule_search_locations is not None) if found else None


def install() -> None:
    """Find modules from now on; before others, because a folder of this name holds none of them."""
    sys.meta_path.insert(0, _Modules())
