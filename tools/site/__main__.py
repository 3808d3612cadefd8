"""Builds the site: `python -m tools.site [--keep-pictures]`, which is `make docs`.

--keep-pictures: takes the pictures of the build before, which saves half a minute where only texts have changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.site import outside, pictures

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
TRIED = ("index.html", "report.html", "generated/rules.html", "apis/tf.nn.html")
"""Pages that are opened in a browser: with pictures, with code, and with the largest tables."""

WAIT = 60_000
"""Milliseconds for which a search is waited for: a busy machine reads the index for seconds."""


def main(words: list[str]) -> int:
    if "--keep-pictures" not in words:
        print("making pictures of the report of examples/")
        pictures.make()
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--site-dir", str(SITE)]
    if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
        return 1
    wrong = [f"loads from outside: {line}" for line in outside.loads_from_outside(SITE)] or read_in_a_browser()
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"the documents: {SITE / 'index.html'}")
    return 1 if wrong else 0


def read_in_a_browser() -> list[str]:
    """Opens pages from the disk, with their scripts, and searches; what they ask of a network, and searches without an end."""
    from playwright.sync_api import TimeoutError, sync_playwright

    asked: list[str] = []
    wrong = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=pictures.chromium(), args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        for name in TRIED:
            page.goto((SITE / name).as_uri())
            try:
                search(page, "dropout")
            except TimeoutError:
                wrong.append(f"{name}: the search finds nothing; is docs/assets/iframe-worker.js what the theme wants?")
        browser.close()
    outside_of_the_disk = {address for address in asked if not address.startswith(("file:", "data:", "blob:"))}
    return [*wrong, *(f"asks a network for {address}" for address in sorted(outside_of_the_disk))]


def search(page: Page, word: str) -> None:
    """Raises TimeoutError of playwright where no page is found."""
    field = page.locator(".md-search")
    field.locator("input").click(timeout=WAIT)
    field.get_by_text("Type to start searching").wait_for(timeout=WAIT)
    field.locator("input").press_sequentially(word)
    field.locator("article").first.wait_for(timeout=WAIT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
