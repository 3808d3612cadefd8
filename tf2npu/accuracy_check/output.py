"""Puts what a check found into a folder: check.json, the page, and the files of the least changes, each whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tf2npu.accuracy_check import document, page
from tf2npu.accuracy_check.change_files import change_files
from tf2npu.accuracy_check.record import Record
from tf2npu.comparison.texts import Texts
from tf2npu.files.directory import Directory
from tf2npu.files.draft import put_whole

JSON_NAME, PAGE_NAME = "check.json", "check.html"


def put(record: Record, out: Path, t: Texts, *, comparisons: Mapping[str, str] | None = None) -> list[Path]:
    """Write everything into a folder, which may be new.  Returns: the paths, the page first.  Raises: OSError."""
    texts = {file.name: file.text for file in change_files(record)}
    with Directory.given(out, make=True) as folder:
        for name, text in texts.items():
            put_whole(folder, name, [text])
        put_whole(folder, JSON_NAME, document.pieces(document.document(record)))
        put_whole(folder, PAGE_NAME, [page.page(record, t, comparisons=comparisons)])
    return [out / name for name in (PAGE_NAME, JSON_NAME, *texts)]
