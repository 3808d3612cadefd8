"""Pictures of docs/report_review.md: `python -m tools.site.review DIR`, where DIR is a checkout of BERT.

What is pictured is the report of code of others, which is not in this repository; of the code itself a few lines are seen.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools.site.pictures import ROOT, WIDTH, chromium, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PLACE = ROOT / "docs" / "report_review"
SCALE = 0.6
"""Pixels of a picture for one of the page: words are still read, and a picture takes 60 kB."""
TELEPHONE = 390
"""Pixels of the width of a telephone."""


@dataclass(frozen=True)
class Seen:
    """The screen of a visitor after some clicks.

    name: of the picture.  clicks: selectors of what is clicked, from the first page on.  width: pixels of the window.
    """

    name: str
    clicks: tuple[str, ...] = ()
    theme: str = "light"
    width: int = WIDTH


SEEN = (
    Seen("lead"),
    Seen("lead_telephone", width=TELEPHONE),
    Seen("engineer_card", ("#next_steps li a[href^='decisions']",)),
    Seen("engineer_code", ("#next_steps li a[href^='files/']",), "dark"),
    Seen("newcomer_words", ("nav.sections a[href='#words']",)),
)


def main(words: list[str]) -> int:
    if len(words) != 1 or not Path(words[0]).is_dir():
        print("python -m tools.site.review DIR: DIR is a checkout of BERT", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tf2npu", "convert", words[0], f"{folder}/out"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"the conversion ended with exit code {done.returncode}\n{done.stderr}")
        take(Path(folder) / "out" / "tf2npu-report")
    return 0


def take(report: Path) -> None:
    """Writes a picture for each of SEEN."""
    from playwright.sync_api import sync_playwright

    PLACE.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for seen in SEEN:
            _take(browser, report, seen)
        browser.close()


def _take(browser: Browser, report: Path, seen: Seen) -> None:
    scale = SCALE if seen.width == WIDTH else 1.0
    page = opened(browser, (report / "index.html").as_uri(), seen.theme, seen.width, scale)
    for selector in seen.clicks:
        page.locator(selector).first.click()
        page.locator(":target").first.wait_for()
    page.screenshot(path=PLACE / f"{seen.name}.png")
    page.context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
