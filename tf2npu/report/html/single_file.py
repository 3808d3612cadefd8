"""All pages of a report in one file, to be sent by mail: links between pages become links inside of it.

Only the page that is asked for by its anchor is shown, by the style sheet alone; filters and keys of the folder's pages need more
than one page and are left out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from posixpath import dirname, join, normpath

from markupsafe import escape

from tf2npu.report.errors import TooLarge
from tf2npu.report.html.as_html import NAMED, Pages, asset
from tf2npu.report.html.content_policy import hash_source
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.report import Report

MOST_BYTES = 5_000_000
"""Bytes of the file: what mail servers take, and what a browser opens in a second."""
_MAIN = re.compile(r"<main id=\"main\">(.*)</main>", re.DOTALL)
_LEGEND = re.compile(r"<details class=\"legend\">.*?</details>", re.DOTALL)
_HEADING = re.compile(r"<header class=\"top\">.*?(<h1>.*?</h1>)", re.DOTALL)
_TAG = re.compile(r"<[a-z][^<>]*>")
_ID = re.compile(r"( (?:id|aria-labelledby)=)(\"|(?=L\d))")  # those of lines have no quotes
_HREF = re.compile(r" href=\"([^\"#?]*)(?:\?[^\"#]*)?(?:#([^\"]*))?\"")
_SHEETS = ("report", "overview", "decisions", "runs")
"""Style sheets of the pages."""
_STYLE = """
.one-page { display: none; }
.one-page:target, .one-page:has(:target) { display: block; }
body:not(:has(:target)) .one-page:first-of-type, body:has(#words:target) .one-page:first-of-type { display: block; }
"""


def single_file(report: Report) -> str:
    """The report as one page of HTML.

    Raises: TooLarge.
    """
    pages = Pages(replace(report, beside=()))
    bodies: dict[str, str] = {}
    size, legend = 0, ""
    for name, text in pages.texts():
        if name.endswith(".html"):
            bodies[name] = _body(text)
            legend = legend or "".join(_LEGEND.findall(text))
            size += len(bodies[name].encode("utf-8", "backslashreplace"))
        if size > MOST_BYTES:
            raise _too_large(len(pages))
    keys = {name: f"p{number}" for number, name in enumerate(bodies)}
    whole = "\n".join(_section(name, body, keys) for name, body in bodies.items())
    if len(whole.encode("utf-8", "backslashreplace")) > MOST_BYTES:
        raise _too_large(len(pages))
    return _document(report, whole, keys, legend)


def _too_large(n_pages: int) -> TooLarge:
    return TooLarge(
        f"the report has {n_pages} pages, which take more than {MOST_BYTES // 1_000_000} MB as one file; "
        "take --format html, or convert a part of the project"
    )


def _body(text: str) -> str:
    """Heading and content of a page."""
    main, heading = _MAIN.search(text), _HEADING.search(text)
    return (heading[1] if heading else "") + (main[1] if main else "")


def _section(name: str, body: str, keys: dict[str, str]) -> str:
    key = keys[name]

    def own(tag: re.Match[str]) -> str:
        with_ids = _ID.sub(lambda found: f"{found[1]}{found[2]}{key}-", tag[0])
        return _HREF.sub(lambda found: f' href="#{_target(name, found[1], found[2] or "", keys)}"', with_ids)

    body = _TAG.sub(own, body)
    return f'<section class="one-page" id="{key}">\n{body}\n</section>'


def _target(name: str, path: str, anchor: str, keys: dict[str, str]) -> str:
    """The anchor in the one file of what a link of a page leads to."""
    page = normpath(join(dirname(name), path)) if path else name
    key = keys.get(page, keys["index.html"])
    return f"{key}-{anchor}" if anchor else key


def _document(report: Report, body: str, keys: dict[str, str], legend: str) -> str:
    texts = catalogue(report.language)
    style = "".join(asset(f"assets/{name}.css") for name in _SHEETS) + _STYLE
    policy = f"default-src 'none'; style-src {hash_source(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    title = escape(texts.text("tf2npu report"))
    links = " ".join(f'<a href="#{keys[name]}">{escape(texts.text(title))}</a>' for name, title in NAMED.items() if name in keys)
    links += f' <a href="#words">{escape(texts.text("What the words mean"))}</a>'
    return f"""<!DOCTYPE html>
<html lang="{report.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body class="wide">
<nav class="sections" aria-label="{escape(texts.text("Pages"))}">{links}</nav>
<main id="main">
{body}
</main>
<footer>{legend}</footer>
</body>
</html>
"""
