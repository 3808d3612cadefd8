"""Tables of tuned operators, as lines and as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats.as_text import Line, show

FAILED = 1
"""Exit code where a script ended before anything was tuned, and said itself that all went well, or where nothing was written."""
WIDTH = 24
"""Characters of a name of an operator in a table; longer ones are cut."""


def put(document: Any, json_file: Path | None, lines: list[str]) -> None:
    """The text on stdout, JSON into a file; - for JSON on stdout instead."""
    if json_file != Path("-"):
        show(map(Line, lines), sys.stdout)
    text = json.dumps(document, indent=1, sort_keys=True) + "\n"
    if json_file == Path("-"):
        click.echo(text, nl=False)
    elif json_file is not None:
        write(json_file, text, "--json")


def write(path: Path, text: str, what: str) -> None:
    from npu_formats.files.directory import Directory
    from npu_formats.files.draft import put_whole

    try:
        with Directory.given(path.parent) as folder:
            put_whole(folder, path.name, [text])
    except OSError as error:
        raise RefusedRequest(f"{what} {path}: cannot be written: {error.strerror or error}") from None
