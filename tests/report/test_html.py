"""The pages as files: nothing of a project's text becomes markup, links lead somewhere, bytes are the same each time."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings

from tests.report import samples
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report import as_html, as_json, as_sarif
from tf2npu.report.model import FileReport, Report
from tf2npu.report.visible import ODD

VOID = {"meta", "link", "br", "col", "input", "hr", "img"}
SAFE_TAGS = set(re.findall(
    r"\S+", "a body bdi br button code col colgroup dd del details div dl dt footer h1 h2 h3 head header html input ins label "
    "li link main meta nav option p pre script section select span strong style summary table tbody td th thead title tr ul"
))  # fmt: skip
SAFE_ATTRIBUTES = set(re.findall(
    r"\S+", "aria-label aria-labelledby aria-pressed charset class colspan content data-findings data-for data-places data-row "
    "data-said data-said-places data-sort data-unfold href http-equiv id lang name open placeholder rel role scope title type "
    "value"
))  # fmt: skip


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
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] not in (["script"], ["style"]):
            self.text.append(data)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {name: Page(text) for name, text in as_html.Pages(samples.sample()).texts()}


def test_one_page_for_each_file_with_something_to_show(pages):
    assert next(iter(pages)) == "index.html"
    assert len(pages) == 1 + 1 + len(samples.HOSTILE_NAMES) + 1  # the converted ones and the one that does not parse


def test_only_our_own_tags_and_attributes(pages):
    for page in pages.values():
        assert set(page.tags) <= SAFE_TAGS
        assert {name for name, _ in page.attributes} <= SAFE_ATTRIBUTES
        assert page.tags.count("script") == 1


def test_names_of_pages_are_harmless(pages):
    for name in list(pages)[1:]:
        assert re.fullmatch(r"files/[A-Za-z0-9][A-Za-z0-9._-]*-[0-9a-f]{10}\.html", name)


def test_links_lead_to_pages_and_places_of_the_report(pages):
    for name, page in pages.items():
        folder = name.rpartition("/")[0]
        for link in page.all("href"):
            if link in ("data:,", ""):
                continue
            assert not re.match(r"[a-z]+:", link, re.IGNORECASE), link
            target, _, anchor = link.partition("#")
            path = name if not target else _joined(folder, unquote(target))
            assert path in pages, link
            assert not anchor or anchor in pages[path].all("id"), link


def _joined(folder: str, target: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in target.split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def test_ids_are_unique(pages):
    for page in pages.values():
        assert len(page.all("id")) == len(set(page.all("id")))


def test_every_field_has_a_label_and_every_table_head_a_scope(pages):
    for _, text in as_html.Pages(samples.sample()).texts():
        for field in re.findall(r"<(?:input|select)", text):
            assert re.search(rf"<label>[^<]*{field}", text)
        assert not re.search(r"<th(?! scope)[ >]", text)


def test_the_policy_forbids_everything_but_our_own_style_and_script():
    for _, text in as_html.Pages(samples.sample()).texts():
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
        assert "default-src 'none'" in policy.replace("&#39;", "'")
        assert "unsafe" not in policy
        assert not re.search(r"https?://", text)


def test_odd_characters_are_shown_not_obeyed():
    for _, text in as_html.Pages(samples.sample()).texts():
        assert not ODD.search(text.replace("\n", ""))
        text.encode("utf-8")
    index = next(text for _, text in as_html.Pages(samples.sample()).texts())
    assert '<span class="odd" title="character U+202E">U+202E</span>' in index


def test_the_code_of_a_page_is_the_source_and_the_output():
    converted = samples.result()
    report = samples.build([converted])
    text = dict(as_html.Pages(report).texts())[as_html.page_name("train.py")]
    cells = re.findall(r'<td class="n">(\d+)</td><td class="t[^"]*">(.*?)</td>', text, re.DOTALL)
    columns = {"before": {}, "after": {}}
    for row in re.findall(r"<tr[^>]*>(<td class=\"n\">.*?)</tr>", text, re.DOTALL):
        left, right = re.findall(r'<td class="n">(\d*)</td><td class="t[^"]*">?(.*?)</td>', row, re.DOTALL)
        for side, (number, code) in (("before", left), ("after", right)):
            if number:
                columns[side][int(number)] = "".join(Page(code).text)
    assert cells
    for side, data in (("before", converted.before), ("after", converted.after)):
        lines = data.decode().replace(samples.BIDI, "U+202Enpu.U+202C".replace("npu", "gnp")).split("\n")[:-1]
        assert [columns[side][n] for n in sorted(columns[side])] == lines


def test_findings_stand_under_their_lines_with_level_rule_and_reason():
    text = dict(as_html.Pages(samples.sample()).texts())[as_html.page_name("train.py")]
    after_session = text[text.index('id="L35"') :]
    note = after_session[: after_session.index('id="L36"')]
    assert 'class="note fixed"' in note
    assert "NPU101" in note
    assert "<summary>Why</summary>" in note


def test_work_left_comes_first_and_the_worst_before_the_rest():
    index = next(text for _, text in as_html.Pages(samples.sample()).texts())
    todo, apis = index.index('id="todo"'), index.index('id="apis"')
    work = index[todo:apis]
    assert work.index("does not parse") < work.index("NPU901") < work.index("NPU902")
    assert f'href="{as_html.page_name("train.py")}#f4"' in work
    assert todo < apis < index.index('id="files"')


def test_the_api_table_counts_what_was_done():
    index = next(text for _, text in as_html.Pages(samples.sample()).texts())
    row = re.search(r"<tr[^>]*><th scope=\"row\"><code>tensorflow\.Session</code>.*?</tr>", index, re.DOTALL).group()
    n = 1 + len(samples.HOSTILE_NAMES)
    assert f'<td class="number">{n}</td>' in row
    assert f'<span class="badge fixed">{n} fixed</span>' in row


def test_same_input_same_bytes_also_by_way_of_json():
    report = samples.sample(samples.NAMES_BELOW_SRC)
    once = list(as_html.Pages(report).texts())
    assert once == list(as_html.Pages(samples.sample(samples.NAMES_BELOW_SRC)).texts())
    assert once == list(as_html.Pages(as_json.load(as_json.render(report))).texts())


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=50)
@given(samples.reports)
def test_any_report_gives_well_formed_pages(report):
    for _, text in as_html.Pages(report).texts():
        page = Page(text)
        assert set(page.tags) <= SAFE_TAGS
        assert {name for name, _ in page.attributes} <= SAFE_ATTRIBUTES
        text.encode("utf-8")


def repeating(n_places: int) -> Report:
    lines = "".join(f"f({number})\n" for number in range(n_places))
    said = [Finding("NPU922", Level.MANUAL, Span(n, 1, n, 5), "Say it once.", after=f"g({n})") for n in range(1, n_places + 1)]
    other = Finding("NPU922", Level.MANUAL, Span(1, 1, 1, 2), "Something else.")
    return Report([FileReport("a.py", Status.UNCHANGED, [*said, other], [], lines)])


def test_a_message_that_a_file_repeats_is_said_once_with_its_places():
    report = repeating(10)
    index, (name, page) = (pair for pair in as_html.Pages(report).texts())
    listed, code = page.split('id="code"')
    assert listed.count("Say it once.") == 1 and listed.count("Something else.") == 1
    assert re.findall(r'href="#(f\d+)">\d+</a>', listed) == [f"f{number}" for number in range(2, 11)]
    assert code.count("Say it once.") == 1 and code.count('As said at <a href="#f1">') == 9
    assert re.findall(r"<pre>(g\(\d+\))</pre>", code) == [f"g({number})" for number in range(1, 11)]  # what to write differs
    assert index[1].count("Say it once.") == 1 and "11 findings</span>" in index[1]
    assert set(re.findall(rf'href="{re.escape(name)}#(f\d+)"', index[1])) == {f"f{number}" for number in range(1, 12)}
    assert as_json.render(report).count("Say it once.") == 10
    assert len(json.loads(as_sarif.render(report))["runs"][0]["results"]) == 11


def test_a_message_that_stands_at_a_few_places_is_said_at_each():
    page = list(as_html.Pages(repeating(4)).texts())[1][1]
    assert "As said at" not in page and page.split('id="code"')[1].count("Say it once.") == 4
