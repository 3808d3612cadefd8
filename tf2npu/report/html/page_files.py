"""The web pages of a report as files; those of a large project are rendered by several processes."""

from __future__ import annotations

import gc
import multiprocessing
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from npu_formats.files.directory import Directory
from npu_formats.files.draft import staged
from npu_formats.files.orphaned_workers import watch_main_process
from tf2npu.report.html.as_html import Pages
from tf2npu.report.html.page_types import FOLDERS
from tf2npu.report.model.report import Report

_PAGES_WORTH_A_PROCESS = 40
"""Pages from which on rendering them is worth another process."""
_CHUNK = 16
"""Pages that a process takes at a time."""


def drafts(report: Report, folder: Directory, jobs: int) -> Iterator[tuple[str, str]]:
    """Write drafts of all pages and of what belongs to them: (name, draft), "" for a file that holds the same already."""
    pages = Pages(report)
    for name in FOLDERS:
        folder.make_folders(name)
    jobs = min(jobs, 1 + len(pages) // _PAGES_WORTH_A_PROCESS)
    chunks = [range(start, min(start + _CHUNK, len(pages))) for start in range(0, len(pages), _CHUNK)]
    if jobs > 1 and _can_fork():
        yield from _by_processes(pages, folder, chunks, jobs)
    else:
        for chunk in chunks:
            yield from _draft_chunk(pages, folder, chunk)


def _draft_chunk(pages: Pages, folder: Directory, chunk: range) -> list[tuple[str, str]]:
    return [(name, staged(folder, name, [text])) for name, text in pages.texts(chunk)]


def _can_fork() -> bool:
    """Whether a child may start as a copy of this process: it then has the report without being sent it."""
    return "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1


_inherited: tuple[Pages, Directory]


def _start_worker() -> None:
    watch_main_process()  # a worker has the lock of the folder too
    gc.freeze()  # what is inherited is never garbage


def _draft_inherited(chunk: range) -> list[tuple[str, str]]:
    return _draft_chunk(*_inherited, chunk)


def _by_processes(pages: Pages, folder: Directory, chunks: list[range], jobs: int) -> Iterator[tuple[str, str]]:
    global _inherited
    _inherited = (pages, folder)
    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(jobs, context, _start_worker) as pool:
            for done in pool.map(_draft_inherited, chunks):
                yield from done
    finally:
        del _inherited
