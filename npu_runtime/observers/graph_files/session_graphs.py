"""The graph files of a session, where the environment or a dump of tensors asks for any."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from npu_runtime.log import tell_once
from npu_runtime.observers.graph_files.request import requested

if TYPE_CHECKING:
    from npu_runtime.observers.graph_files.files import GraphFiles


def graph_files(has_dump: bool) -> GraphFiles | None:
    """The writer of the graphs of a session; None where nobody asks for them, which costs nothing.  has_dump: of tensors."""
    request, notes = requested(os.environ, has_dump)
    for line in notes:
        tell_once(f"Graph files: {line}")
    if request is None:
        return None
    from npu_runtime.observers.graph_files.files import GraphFiles

    return GraphFiles(request)
