"""The `dump graph` command: the JSON of a graph file."""

from __future__ import annotations

from pathlib import Path

import click

from npu_formats.escape import visible
from npu_formats.files.bounded_read import read_at_most
from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.languages.language import counted

UNREADABLE = 3
"""Exit code for a graph file that cannot be read."""


def graph_json(graph: Path, out: Path) -> int:
    """`tf2npu dump graph`; returns the exit code.  Raises: RefusedRequest where the JSON cannot be written."""
    _require_libraries()
    from npu_formats.vendor.graph_json import MOST_TEXT_BYTES, GraphFormatError, graph_document
    from npu_formats.vendor.graph_json import graph_json as json_of

    try:
        document = graph_document(read_at_most(graph, MOST_TEXT_BYTES))
    except (OSError, GraphFormatError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        click.echo(visible(f"tf2npu dump graph: {graph}: {reason}"), err=True)
        return UNREADABLE
    try:
        with Directory.given(out.absolute().parent, make=True) as folder:
            put_whole(folder, out.name, [json_of(document)])
    except OSError as error:
        raise RefusedRequest(f"{error.filename or out}: {error.strerror or error}") from None
    first = document["graph"][0]
    click.echo(visible(f"{out}: {counted(len(first['op']), 'node')} of {first.get('name', 'a graph without a name')}"))
    return 0


def _require_libraries() -> None:
    """Refuse where what reads graph files, a part of what runs scripts, is not installed."""
    from tf2npu.launch.doctor import why_not_run

    reason = why_not_run()
    if reason:
        raise RefusedRequest(reason)
