"""Modules and names that scripts for TensorFlow 2.4 to 2.6 import and 2.15 does not have, back as they were.

Each is logged once, when a script first imports it, with what to write today.
"""

from __future__ import annotations

import sys

from npu_device._device import versions
from npu_device._old_names import module_finder, names_in_modules


def install() -> None:
    """Bring the names back, in the release whose modules the table knows; a second call does nothing."""
    is_there = any(isinstance(finder, module_finder.OldModules) for finder in sys.meta_path)
    if versions.is_right() and not is_there:
        sys.meta_path.insert(0, module_finder.OldModules())
        names_in_modules.install()
