"""The graph files of a session, where its options or the environment ask for any."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from npu_runtime.graph_files.request import has_dump, requested
from npu_runtime.notices import tell_once

if TYPE_CHECKING:
    from npu_runtime.graph_files.files import GraphFiles


def graph_files(parameters: Mapping[str, Any]) -> GraphFiles | None:
    """Who writes the graphs of a session; None where nobody asks for them, which costs nothing."""
    request, notes = requested(os.environ, has_dump(parameters))
    for line in notes:
        tell_once(f"Graph files: {line}")
    if request is None:
        return None
    from npu_runtime.graph_files.files import GraphFiles

    return GraphFiles(request)
