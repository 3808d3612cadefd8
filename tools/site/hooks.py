"""Events of mkdocs (`hooks` in mkdocs.yml): adds pages of APIs, files that documents link to, and pictures of reports."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.site import api_pages, links
from tools.site.pictures import FOLDER, THEMES, files

ROOT = Path(__file__).parents[2]
_LOG = logging.getLogger("mkdocs.plugins.tf2npu")
_PICTURE = re.compile(r"^<!-- picture ([a-z_]+): (.+) -->$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Adds what stands in no file of docs/."""
    for path, text in api_pages.pages().items():
        files.append(File.generated(config, path, content=text))
    for path in linked_files(Path(config.docs_dir)):
        files.append(File.generated(config, links.on_the_site(path), abs_src_path=str(ROOT / path)))
    for name, picture in pictures().items():
        files.append(File.generated(config, f"{FOLDER}/{name}", abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Gives a page links that hold on the site, and its pictures."""
    path = page.file.src_uri
    inside = path.removeprefix(links.PROJECT) if path.startswith(links.PROJECT) else links.DOCS + path
    depth = "../" * path.count("/")
    return _PICTURE.sub(lambda found: _figure(found[1], found[2], depth), links.rewritten(markdown, inside))


def linked_files(docs: Path) -> list[str]:
    """Files of the project that are not in docs/ and that its pages lead to, and those that these lead to, by path."""
    found: set[str] = set()
    new = {f"{links.DOCS}{page.relative_to(docs).as_posix()}" for page in docs.rglob("*.md")}
    while new:
        pages = {path for path in new if path.endswith(".md")}
        new = {target for path in pages for target in links.files_outside((ROOT / path).read_text("utf-8"), path)} - found
        found |= new
    return sorted(path for path in found if (ROOT / path).is_file())


def _figure(name: str, text: str, depth: str) -> str:
    missing = [theme for theme in THEMES if f"{name}-{theme}.png" not in pictures()]
    if missing:
        _LOG.warning("no picture %s (%s): `make docs` makes it", name, ", ".join(missing))
        return ""
    return "\n".join(f"![{text}]({depth}{FOLDER}/{name}-{theme}.png#only-{theme})" for theme in THEMES)


def pictures() -> dict[str, Path]:
    """The pictures that were made, by name of file."""
    return files()
