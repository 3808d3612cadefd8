"""Parts of the site, asked without mkdocs: its menu, its added pages, and its links out of docs/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from tests.report import samples
from tests.report.browser import Browser
from tests.report.test_json import RUN
from tf2npu.report import writer
from tools.site import api_pages, links, outside, pictures

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURE = re.compile(r"^<!-- picture (\w+): .+ -->$", re.MULTILINE)
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def pages_of(menu: Any) -> Iterator[str]:
    """The pages that a menu names, in its order."""
    if isinstance(menu, str):
        yield menu
    for entry in menu.values() if isinstance(menu, dict) else menu if isinstance(menu, list) else ():
        yield from pages_of(entry)


def test_the_menu_names_each_page_of_docs_once_and_nothing_that_is_not_there():
    named = list(pages_of(SETTINGS["nav"]))
    documents = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    added = {page for page in named if page not in documents}
    assert sorted(set(named) - added) == sorted(documents)
    assert len(named) == len(set(named))
    assert {page for page in added if page.startswith(links.PROJECT)} == added - {f"{api_pages.FOLDER}index.md"}
    assert all((ROOT / page.removeprefix(links.PROJECT)).is_file() for page in added if page.startswith(links.PROJECT))


def test_nothing_of_the_settings_leads_out_of_the_project():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "http" not in text
    assert SETTINGS["theme"]["font"] is False
    assert "offline" in SETTINGS["plugins"]


def test_every_verdict_of_the_table_is_on_one_page():
    for _, table in api_pages.TABLES:
        listed = [api.name for apis in api_pages.by_module(table).values() for api in apis]
        assert sorted(listed) == sorted(api.name for api in table)
    assert "| `tf.nn.ctc_loss` | manual |" in api_pages.pages()["apis/tf.nn.md"]
    page = api_pages.pages()["apis/torch.cuda.md"]
    assert "| `torch.cuda.synchronize` | converted | supported | supported | supported | supported | write `torch.npu.s" in page


def test_rows_of_apis_have_the_cells_of_their_heads_whatever_their_notes_hold():
    for path, text in api_pages.pages().items():
        lines = [line for line in text.splitlines() if line.startswith(("| `", "| API"))]
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} <= {5, 8}, path
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) <= 1, path


def test_rules_that_the_pages_of_apis_lead_to_are_explained():
    rules = set(re.findall(r"^## (NPU\d+)$", (DOCS / "generated" / "rules.md").read_text(encoding="utf-8"), re.MULTILINE))
    asked = {found for text in api_pages.pages().values() for found in re.findall(r"\[(NPU\d+)\]", text)}
    assert asked and asked <= rules


def test_links_out_of_docs_lead_to_what_the_site_has_of_the_project():
    text = "[a](../CONTRIBUTING.md#set-up) [b](x/y.md) `[c](../z.md)` [d](https://e.org/f) [g](#h)\n```\n[i](../j.md)\n```\n"
    assert links.rewritten(text, "docs/k.md") == (
        "[a](project/CONTRIBUTING.md#set-up) [b](x/y.md) `[c](../z.md)` [d](https://e.org/f) [g](#h)\n```\n[i](../j.md)\n```\n"
    )
    assert links.rewritten("[a](docs/cli.md#run) [b](NOTICE)", "README.md") == "[a](../cli.md#run) [b](NOTICE)"
    assert links.rewritten("[a](../shim.md) [b](../../README.md)", "docs/internals/shim.md") == (
        "[a](../shim.md) [b](../project/README.md)"
    )
    assert links.files_outside(text, "docs/k.md") == {"CONTRIBUTING.md"}


def test_every_link_of_the_documents_leads_to_a_file():
    wrong = []
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        name = page.relative_to(ROOT).as_posix()
        targets = links.targets(page.read_text(encoding="utf-8"), name)
        wrong += [f"{name}: {target}" for target in targets if not (ROOT / target).is_file()]
    assert wrong == []


def test_a_picture_is_made_for_each_place_that_asks_for_one():
    asked = {name for page in DOCS.rglob("*.md") for name in PICTURE.findall(page.read_text(encoding="utf-8"))}
    assert asked == {picture.name for picture in pictures.PICTURES}


def test_the_pages_of_which_pictures_are_made_are_pages_of_a_report(tmp_path):
    writer.write(replace(samples.sample(), run=RUN), tmp_path, ["html"])
    lists = [picture for picture in pictures.PICTURES if "/" not in picture.page]
    assert len(lists) >= 5
    assert [pictures.page_of(tmp_path, picture).parent for picture in lists] == [tmp_path] * len(lists)


def test_what_a_browser_loads_by_itself_is_told_from_what_a_reader_may_open():
    page = """<link rel=canonical href=https://a.org><link rel=stylesheet href=https://b.org/b.css><a href=https://c.org>c</a>
      <script src=//d.org/d.js></script><img src=e.png srcset="f.png 1x, http://g.org/g.png 2x"><style>@import "https://h.org/h.css";
      p{background:url(data:image/png;base64,AA)}</style><p style="background:url('http://i.org/i.png')">url(http://k.org)</p>"""
    assert outside.of_page(page) == [
        "https://b.org/b.css", "//d.org/d.js", "http://g.org/g.png 2x", "https://h.org/h.css", "http://i.org/i.png",
    ]  # fmt: skip


def test_pages_below_a_folder_are_read_and_named(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.html").write_text("<script src='https://a.org/a.js'></script>", encoding="utf-8")
    (tmp_path / "b.css").write_text("p{background:url(c.png)}", encoding="utf-8")
    assert outside.loads_from_outside(tmp_path) == ["in/a.html: https://a.org/a.js"]


def test_a_worker_in_a_frame_answers_on_pages_of_the_disk(browser: Browser, tmp_path):
    (tmp_path / "worker.js").write_text("addEventListener('message', e => postMessage(e.data * 2));", encoding="utf-8")
    script = (DOCS / "assets" / "iframe-worker.js").as_uri()
    (tmp_path / "page.html").write_text(f"<!doctype html><body><script src='{script}'></script>", encoding="utf-8")
    browser.open((tmp_path / "page.html").as_uri())
    answer = "worker.addEventListener('message', event => done(event.data)); worker.postMessage(21);"
    asked = f"new Promise(done => {{ const worker = new Worker('worker.js'); {answer} }})"
    assert browser.ask(asked, waits=True) == 42
