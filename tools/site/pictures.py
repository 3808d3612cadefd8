"""Pictures of real reports, in both themes: of examples/, converted and run, as Chromium shows them from the disk."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
FOLDER = "pictures"
"""Folder of the pictures on the site, and in build/ until then."""
THEMES = ("light", "dark")
WIDTH, HEIGHT = 1280, 800
"""Pixels of a picture: the screen at which the report's overview is to be read without scrolling."""
SCRIPT = "lenet_estimator/train.py"
"""The example that is run: an Estimator, of whose run every part of the report has something to say."""
STEPS = "50"
"""Enough of them for checkpoints and summaries, and few enough for ten seconds."""


@dataclass(frozen=True)
class Picture:
    """One page of the report.

    name: of the picture.  page: the path of the page in the report, as a pattern.  top: a selector of what is to stand at the
    upper edge, or "".
    """

    name: str
    page: str
    top: str = ""


PICTURES = (
    Picture("overview", "index.html"),
    Picture("decisions", "decisions.html"),
    Picture("findings", "findings.html"),
    Picture("file_page", "files/lenet_estimator-train.py-*.html", "#code"),
    Picture("apis", "apis.html"),
    Picture("runs", "runs.html"),
)


def files() -> dict[str, Path]:
    """The pictures that were made, by name of file."""
    return {path.name: path for path in sorted((ROOT / "build" / FOLDER).glob("*.png"))}


def make() -> None:
    """Makes all pictures anew."""
    place = ROOT / "build" / FOLDER
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        take(report_of_the_examples(Path(folder)), place)


def report_of_the_examples(folder: Path) -> Path:
    """The folder of a report on examples/, converted for several devices, which leaves work to a person, and run."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__", "model"))
    tool = Path(sys.executable).with_name("tf2npu")
    convert = [tool, "convert", "examples", "out", "--distributed", "tf"]
    run = [tool, "run", "--report", "out/tf2npu-report", f"out/{SCRIPT}", f"--steps={STEPS}"]
    for command, right in (convert, (0, 1)), (run, (0,)):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode not in right:
            sys.exit(f"{' '.join(map(str, command))} ended with exit code {done.returncode}\n{done.stderr}")
    return folder / "out" / "tf2npu-report"


def take(report: Path, place: Path) -> None:
    """Writes NAME-THEME.png for every picture."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for theme in THEMES:
            for picture in PICTURES:
                page = opened(browser, page_of(report, picture).as_uri(), theme)
                if picture.top:
                    page.locator(picture.top).first.evaluate("e => e.scrollIntoView()")
                page.screenshot(path=place / f"{picture.name}-{theme}.png")
                page.context.close()
        browser.close()


def page_of(report: Path, picture: Picture) -> Path:
    """The page of a report that a picture shows."""
    found = sorted(report.glob(picture.page))
    return found[0] if found else sys.exit(f"the report has no page {picture.page}: mend PICTURES in tools/site/pictures.py")


def opened(browser: Browser, address: str, theme: str, width: int = WIDTH, scale: float = 1.0) -> Page:
    """A page of the disk in a browser without a network.  scale: pixels of a picture for one of the page."""
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT},
        device_scale_factor=scale,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        offline=True,
    )
    page = context.new_page()
    page.goto(address)
    return page


def chromium() -> str:
    """The path of a Chromium of this machine."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or sys.exit("Chromium is not installed: the pictures are made with it; on Debian: apt-get install chromium")
