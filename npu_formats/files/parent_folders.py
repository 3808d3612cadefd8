"""Files in the folders above a tree, which another user of the machine may have put there."""

from __future__ import annotations

import logging
import os
from pathlib import Path

log = logging.getLogger(__name__)


def is_trusted(path: Path, tree: Path) -> bool:
    """Whether a file or folder above a tree counts: git's rule for repositories of somebody else's (`safe.directory`).

    It must belong to this user, to root, or to the owner of the tree. What is another's is passed over, and the log says so.
    """
    if not hasattr(os, "geteuid"):
        return True
    try:
        owner, users = path.stat().st_uid, {os.geteuid(), 0, tree.stat().st_uid}
    except OSError:
        return True  # it cannot be read either, and whoever reads it says so
    if owner in users:
        return True
    log.warning(
        "%r: passed over: it belongs to user %d and lies above %r; copy it there if it is meant", str(path), owner, str(tree)
    )
    return False
