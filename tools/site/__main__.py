"""Builds the site: `python -m tools.site [--keep-pictures]`, which is `make docs`.

--keep-pictures: takes the pictures of the build before, which saves half a minute where only texts have changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.site import outside, pictures

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
    found = [*outside.loads_from_outside(SITE), *requested()]
    for line in found:
        print(f"loaded from outside: {line}", file=sys.stderr)
    if found:
        return 1
    print(f"the documents: {SITE / 'index.html'}")
    return 0


def requested() -> list[str]:
    """What pages ask of a network when they are opened from the disk, with their scripts, and searched."""
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=pictures.chromium(), args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        for name in TRIED:
            page.goto((SITE / name).as_uri())
            search = page.locator(".md-search")
            search.locator("input").click()
            search.get_by_text("Type to start searching").wait_for(timeout=WAIT)
            search.locator("input").press_sequentially("dropout")
            search.locator("article").first.wait_for(timeout=WAIT)
        browser.close()
    return sorted({address for address in asked if not address.startswith(("file:", "data:", "blob:"))})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
