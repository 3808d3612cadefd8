"""The pages as files: nothing of a project's text becomes markup, links lead somewhere, bytes are the same each time."""

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings

from npu_formats.escape import ODD
from tests.how_many import drawn
from tests.report import samples
from tests.report.test_json import RUN
from tf2npu.findings import Finding, Level, Span, Status, Verdict
from tf2npu.report.formats import as_json, as_sarif
from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.html import as_html
from tf2npu.report.model.report import ApiRow, FileReport, Report

VOID = {"meta", "link", "br", "col", "input", "hr", "img"}
SAFE_TAGS = set(re.findall(
    r"\S+", "a article bdi body br button code col colgroup dd del details div dl dt fieldset footer h1 h2 h3 head header html i "
    "input ins label legend li link main meta nav option p pre script section select span strong summary table tbody td textarea "
    "th thead title tr ul"
))  # fmt: skip
SAFE_TAGS |= {"caption", "figcaption", "figure", "g", "ol", "rect", "svg", "text"}  # pictures and their tables
SAFE_ATTRIBUTES = set(re.findall(
    r"\S+", "aria-current aria-label aria-labelledby aria-pressed autocomplete charset class colspan content data-blocks "
    "data-cards data-decided data-decision data-export data-failed data-findings data-first data-for data-letters data-line-end "
    "data-lost data-next data-nothing data-odd data-patch data-places data-previous data-report data-root data-row data-rule "
    "data-said data-said-places data-sort data-text data-unfold data-unified data-words defer hidden href http-equiv id lang "
    "maxlength name open placeholder readonly rel role rows scope spellcheck src title type value"
))  # fmt: skip
SAFE_ATTRIBUTES |= {  # of pictures and of the tour
    "aria-describedby", "aria-hidden", "data-copied", "data-name", "data-parent", "data-refused",
    "height", "preserveaspectratio", "tabindex", "viewbox",
    "width", "x", "y",
}  # fmt: skip


ENDED_BY = {
    **dict.fromkeys(("td", "th"), ("td", "th", "tr")), "tr": ("tr",), "colgroup": ("thead", "tbody"), "thead": ("tbody",),
    **dict.fromkeys(("dt", "dd"), ("dt", "dd")), "tbody": (),
}  # fmt: skip
"""Elements whose end tag HTML lets be left out, and the tags that end them, besides the end of their parent."""


class Page(HTMLParser):
    """Tags, attributes, ids, links and text of a page; complains about markup that does not nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        while self._open and tag in ENDED_BY.get(self._open[-1], ()):
            self._open.pop()
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open[-1] != tag and self._open[-1] in ENDED_BY:
            self._open.pop()
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] not in (["script"], ["style"]):
            self.text.append(data)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


def html_of(report: Report) -> dict[str, str]:
    return {name: text for name, text in as_html.Pages(report).texts() if name.endswith(".html")}


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {name: Page(text) for name, text in html_of(samples.sample()).items()}


@pytest.fixture(scope="module")
def index(pages) -> str:
    return html_of(samples.sample())["index.html"]


def test_one_page_for_each_file_with_something_to_show(pages):
    assert next(iter(pages)) == "index.html"
    of_files = [name for name in pages if name.startswith("files/")]
    assert len(of_files) == 1 + len(samples.HOSTILE_NAMES) + 1  # the converted ones and the one that does not parse


def test_only_our_own_tags_and_attributes(pages):
    for page in pages.values():
        assert set(page.tags) <= SAFE_TAGS
        assert {name for name, _ in page.attributes} <= SAFE_ATTRIBUTES
        assert page.tags.count("script") == len(page.all("src")), "each script is a file of the report"


def test_names_of_the_files_of_a_report_are_harmless():
    names = [name for name, _ in as_html.Pages(samples.sample()).texts()]
    assert len(names) == len(set(names))
    for name in names:
        assert re.fullmatch(
            r"files/[A-Za-z0-9][A-Za-z0-9._-]*-[0-9a-f]{10}(-\d+)?\.html|[a-z]+(-\d+)?\.html|assets/[a-z]+\.(js|css)|data/[a-z]+-\d+\.js",
            name,
        )


def test_links_lead_to_pages_and_places_of_the_report(pages):
    check_links(html_of(samples.sample()), {name for name, _ in as_html.Pages(samples.sample()).texts()})


def test_folded_lines_that_runs_and_unknown_names_point_to_have_an_anchor():
    """Without scripts a browser opens the fold around an anchor; of other folded lines there are too many."""
    host_lines = [{**RUN["host_lines"][0], "at": {"path": "train.py", "line": 17}}]
    unknown = (ApiRow("tensorflow.x", Verdict.UNKNOWN, 9, 1, ("train.py:18", "train.py:19")),)
    report = replace(samples.sample(), run={**RUN, "host_lines": host_lines}, apis=unknown)
    found = Page(html_of(report)[page_name("train.py")]).all("id")
    assert {"L17", "L18", "L19"} <= set(found) and "L20" not in found


def check_links(texts: dict[str, str], names: set[str]) -> None:
    """Each link, script and style sheet of the pages is a file of the report, and has the place that is named."""
    pages = {name: Page(text) for name, text in texts.items()}
    for name, page in pages.items():
        folder = name.rpartition("/")[0]
        for link in [*page.all("href"), *page.all("src")]:
            if link in ("data:,", ""):
                continue
            assert not re.match(r"[a-z]+:", link, re.IGNORECASE), link
            target, _, anchor = link.partition("#")
            path = name if not target else _joined(folder, unquote(target))
            assert path in names, link
            assert not anchor or shows(pages[path], texts[path], anchor), f"{name}: {link}"


def shows(page: Page, text: str, anchor: str) -> bool:
    """Whether a page has a place; lines that are folded have none of their own, and their fold stands for them."""
    if anchor in page.all("id"):
        return True
    line = re.fullmatch(r"L(\d+)", anchor)
    folds = re.findall(r'<details class="fold" data-first="(\d+)">.*?<pre class="n">([\d\n]+)</pre>', text, re.DOTALL)
    return bool(line) and any(line.group(1) in numbers.split("\n") for _, numbers in folds)


def _joined(folder: str, target: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in target.split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def test_ids_are_unique(pages):
    for page in pages.values():
        assert len(page.all("id")) == len(set(page.all("id")))


def test_every_field_has_a_label_and_every_table_head_a_scope():
    for text in html_of(samples.sample()).values():
        for label in re.findall(r"<(?:input|select|textarea)", re.sub(r"<label[^>]*>.*?</label>", "", text, flags=re.DOTALL)):
            pytest.fail(f"{label} stands outside of a label")
        assert not re.search(r"<th(?! scope)[ >]", text)


def test_the_policy_forbids_everything_but_the_style_scripts_and_pictures_of_the_report():
    for text in html_of(samples.sample()).values():
        written = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
        policy = {one.split()[0]: one.split()[1:] for one in html.unescape(written).split(";")}
        assert policy["default-src"] == ["'none'"] == policy["base-uri"] == policy["form-action"]
        assert policy["script-src"] == policy["style-src"] == ["'self'"]
        assert set(policy["img-src"]) <= {"'self'", "data:"}
        assert not re.search(r"https?://", text)
        assert "<style" not in text and "<script>" not in text, "nothing that the policy would refuse"


def test_odd_characters_are_shown_not_obeyed():
    for _, text in as_html.Pages(samples.sample()).texts():
        assert not ODD.search(text.replace("\n", ""))
        text.encode("utf-8")
    texts = html_of(samples.sample())
    for name in ("index.html", "decisions.html", "findings.html", "files.html", "apis.html"):
        assert '<span class="odd" title="character U+202E">U+202E</span>' in texts[name]


def code_of_page(text: str) -> dict[str, dict[int, str]]:
    """The lines that a page shows before and after, by number, read as text; lines in folds are the same in both."""
    columns: dict[str, dict[int, str]] = {"before": {}, "after": {}}
    code = text[text.index('id="code-table"') :]
    cell = r"<td class=n>(\d*)<td(?: class=\w+)?>(.*?)(?=<td|$)"
    for row in re.findall(r"<tr[^>]*>(<td class=n>.*?)(?=<tr|</table>)", code, re.DOTALL):
        for side, (number, shown) in zip(columns, re.findall(cell, row, re.DOTALL), strict=False):  # or the source alone
            if number:
                columns[side][int(number)] = "".join(Page(shown).text)
    for numbers, lines in re.findall(r'<pre class="n">([\d\n]+)</pre><pre>(.*?)</pre>', code, re.DOTALL):
        for number, line in zip(numbers.split("\n"), lines.split("\n"), strict=True):
            columns["before"][int(number)] = "".join(Page(line).text)
    return columns


def test_the_code_of_a_page_is_the_source_and_the_output():
    converted = samples.result()
    columns = code_of_page(html_of(samples.build([converted]))[page_name("train.py")])
    seen = samples.BIDI.replace("\u202e", "U+202E").replace("\u202c", "U+202C")
    before, after = (data.decode().replace(samples.BIDI, seen).split("\n")[:-1] for data in (converted.before, converted.after))
    assert [columns["before"][n] for n in sorted(columns["before"])] == before
    assert len(columns["after"]) > 10 and len(after) == len(before) + 1
    for number, line in columns["after"].items():
        assert line == after[number - 1]
    hidden = set(range(1, 1 + len(after))) - columns["after"].keys()
    assert [after[n - 1] for n in sorted(hidden)] == [before[n - 2] for n in sorted(hidden)], "a fold hides what did not change"


def test_findings_stand_under_their_lines_with_level_rule_and_reason():
    text = html_of(samples.sample())[page_name("train.py")]
    _, note, _ = re.split(r"<tr id=L3[56]\b", text)
    assert 'class="note fixed"' in note
    assert "NPU101" in note
    assert "<summary>Why</summary>" in note


def test_work_left_comes_first_and_the_worst_before_the_rest(index):
    decisions = html_of(samples.sample())["decisions.html"]
    for work in (index[index.index('<section id="left_to_do"') :], decisions):
        assert work.index("does not parse") < work.index("NPU901") < work.index("NPU902")
    train = samples.build([samples.result()])
    anchor = View(train).anchors(train.files[0])[3]
    assert f'href="{page_name("train.py")}#{anchor}"' in decisions
    names = [link for link in Page(index).all("href") if "#" not in link and link.endswith(".html")]
    assert names[:5] == ["index.html", "decisions.html", "findings.html", "files.html", "apis.html"]


def test_the_api_table_counts_what_was_done():
    apis = html_of(samples.sample())["apis.html"]
    row = re.search(r"<tr[^>]*><th scope=\"row\"><code>tensorflow\.Session</code>.*?</tr>", apis, re.DOTALL).group()
    n = 1 + len(samples.HOSTILE_NAMES)
    assert f'<td class="number">{n}</td>' in row
    assert f'<span class="badge fixed">{n} fixed</span>' in row


def test_same_input_same_bytes_also_by_way_of_json():
    report = samples.sample(samples.NAMES_BELOW_SRC)
    once = list(as_html.Pages(report).texts())
    assert once == list(as_html.Pages(samples.sample(samples.NAMES_BELOW_SRC)).texts())
    assert once == list(as_html.Pages(as_json.load(as_json.render(report))).texts())


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=drawn(50))
@given(samples.reports)
def test_any_report_gives_well_formed_pages(report):
    for name, text in as_html.Pages(report).texts():
        text.encode("utf-8")
        if name.startswith("data/"):
            assert text.isascii() and "<" not in text
        elif name.endswith(".html"):
            page = Page(text)
            assert set(page.tags) <= SAFE_TAGS
            assert {name for name, _ in page.attributes} <= SAFE_ATTRIBUTES


def repeating(n_places: int) -> Report:
    lines = "".join(f"f({number})\n" for number in range(n_places))
    said = [Finding("NPU922", Level.MANUAL, Span(n, 1, n, 5), "Say it once.", after=f"g({n})") for n in range(1, n_places + 1)]
    other = Finding("NPU922", Level.MANUAL, Span(1, 1, 1, 2), "Something else.")
    return Report([FileReport("a.py", Status.UNCHANGED, [*said, other], [], lines)])


def test_a_message_that_a_file_repeats_is_said_once_with_its_places():
    report = repeating(10)
    texts, name, anchors = html_of(report), page_name("a.py"), View(report).anchors(report.files[0])
    assert len(set(anchors)) == 11
    listed, code = texts[name].split('id="code"')
    assert listed.count("Say it once.") == 1 and listed.count("Something else.") == 1
    assert re.findall(r'href="#(f-[0-9a-f]+)">\d+</a>', listed) == anchors[1:10]
    assert code.count("Say it once.") == 1 and code.count(f'As said at <a href="#{anchors[0]}">') == 9
    assert re.findall(r"<pre>(g\(\d+\))</pre>", code) == [f"g({number})" for number in range(1, 11)]  # what to write differs
    decisions = texts["decisions.html"]
    assert decisions.count("Say it once.") == 1 and "10 findings, 1 file</span>" in decisions
    assert set(re.findall(rf'href="{re.escape(name)}#(f-[0-9a-f]+)"', decisions)) == set(anchors)
    left_to_do = texts["index.html"].split('<section id="left_to_do"')[1].split("</section>")[0]
    assert left_to_do.count("Say it once.") == 1
    assert as_json.render(report).count("Say it once.") == 10
    assert len(json.loads(as_sarif.render(report))["runs"][0]["results"]) == 11


def test_a_message_that_stands_at_a_few_places_is_said_at_each():
    page = html_of(repeating(4))[page_name("a.py")]
    assert "As said at" not in page and page.split('id="code"')[1].count("Say it once.") == 4
