"""The generated pages are what the registries say now: `python docs/generate.py` writes them anew."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from runpy import run_path

DOCS = Path(__file__).parents[1] / "docs"


def test_generated_pages_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages = module.pages()
    assert sorted(pages) == sorted(path.name for path in (DOCS / "generated").iterdir())
    stale = [name for name, text in pages.items() if (DOCS / "generated" / name).read_text(encoding="utf-8") != text]
    assert not stale, f"{stale}: run make regen"


def test_the_picture_of_the_packages_is_up_to_date() -> None:
    drawing = run_path(str(DOCS.parent / "tools" / "draw_packages.py"))
    assert (DOCS / "packages.svg").read_text(encoding="utf-8") == drawing["picture"](), "run make regen"
