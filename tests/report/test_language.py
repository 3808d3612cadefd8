"""The report in Chinese: every text of the converter is in the catalogue, and every message is found there again."""

import csv
import itertools
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.how_many import some
from tests.report.message_templates import CATALOGUE, FINDINGS, PAGES, missing_texts, with_empty_lines
from tests.report.samples import sample
from tf2npu import Config, convert_source
from tf2npu.api_support import uses
from tf2npu.findings import Level, Status, Verdict
from tf2npu.report import writer
from tf2npu.report.formats import as_json
from tf2npu.report.formats.localized import localized
from tf2npu.report.formats.rule_list import entries, render
from tf2npu.report.html import as_html
from tf2npu.report.languages.language import Catalogue, catalogue, template_in
from tf2npu.rules import all_rules

ZH = json.loads((writer._PACKAGE / "report" / "locale" / "zh.json").read_text(encoding="utf-8"))
HOW = (
    "tf2npu/report/locale/zh.json has no Chinese text for these lines; `python -m tests.report.message_templates --write` "
    "adds them with empty texts, to be filled in (the same text again where it is code):"
)
# Names that are the same in both languages.
NAMES = re.compile(r"[\w./ -]+")
STAYS_OPEN = (
    "The session stays open until Python exits, which can keep an NPU busy or end in an error. Call {}.close() at the end, or "
    "use a with statement."
)


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


def test_every_text_has_one_in_chinese():
    assert len(FINDINGS) >= 159, "not every file that says something was looked at"
    assert len(PAGES) >= 2
    lines = [f' {json.dumps(text, ensure_ascii=False)}: "",   {place}' for text, place in missing_texts().items()]
    assert not lines, "\n".join([HOW, *lines])


def test_an_empty_text_is_one_that_is_missing():
    assert Catalogue({"Write it.": ""}).text("Write it.") == "Write it."
    lines = with_empty_lines({"b": "B", "d": "D", "e": "", "c": ""}, ["c", "a"])
    assert json.loads(lines) == {"a": "", "b": "B", "c": "", "d": "D"}
    assert with_empty_lines(ZH, []) == CATALOGUE.read_text(encoding="utf-8"), "sorted, a line for each text"


def test_no_slot_is_lost_or_made_up():
    for english, chinese in ZH.items():
        slots = re.findall(r"\{(\d*)\}", chinese)
        numbers = sorted(int(number) for number in slots) if all(slots) else list(range(len(slots)))
        if chinese != english:
            assert numbers == list(range(english.count("{}"))), english


def messages() -> set[str]:
    """Messages of the rules on their own examples, in every mode."""
    found = set()
    for rule in all_rules():
        for example in rule.examples:
            source = example.before if "import" in example.before else f"import tensorflow as tf\n{example.before}"
            for mode, unsafe in some(itertools.product(("none", "tf", "horovod"), (False, True)), 3):
                result = convert_source(source, config=Config(distributed=mode, unsafe_fixes=unsafe))
                found |= {finding.message for finding in result.findings}
    return found


def test_whatever_the_rules_say_is_said_in_chinese():
    found = messages()
    assert len(found) > 100
    unwritten = Catalogue(dict.fromkeys(missing_texts(), "-"))  # the test above prints these
    english = sorted(m for m in found if not is_chinese(catalogue("zh").text(m)) and not unwritten.has(m))
    assert not english, "\n".join(["no text of the catalogue fits:", *english])


def test_code_in_a_message_is_kept():
    message = STAYS_OPEN.format("my_session")
    assert "my_session.close()" in catalogue("zh").text(message)


class TestMatching:
    texts = Catalogue(
        {"Write {}.": "请写 {}。", "{} is {}: {}": "{1}是{0}：{2}", "leave it out": "去掉它", "Look here.": "看这里。"}
    )

    @pytest.mark.parametrize(
        "english, chinese",
        [
            ("Write f(x).", "请写 f(x)。"),
            ("Write leave it out.", "请写 去掉它。"),
            ("Look here. Write x.", "看这里。请写 x。"),
            ("nothing of this", "nothing of this"),
            ("Look here. Nobody knows this.", "Look here. Nobody knows this."),
            ("", ""),
            ("{}", "{}"),
        ],
    )
    def test_messages(self, english, chinese):
        assert self.texts.text(english) == chinese

    @given(st.text())
    def test_anything(self, text):
        assert isinstance(self.texts.text(text), str)
        assert text in self.texts.text(f"Write {text}.") or self.texts.text(text.strip()) in self.texts.text(f"Write {text}.")


def test_english_is_as_it_was():
    report = sample()
    assert localized(report, "en") is report
    assert catalogue("en").text("Write {}.") == "Write {}."
    for page in PAGES:
        assert template_in(page.read_text(), "en") == page.read_text()


def test_pages_text_and_sarif_are_chinese_and_json_is_not(tool_report):
    assert "待处理" in tool_report("html") and 'lang="zh"' in tool_report("html")
    assert "没有发现分布式训练" in tool_report("text")
    results = json.loads(tool_report("sarif"))["runs"][0]
    assert all(is_chinese(result["message"]["text"]) for result in results["results"])
    assert all(is_chinese(rule["fullDescription"]["text"]) for rule in results["tool"]["driver"]["rules"])
    assert not is_chinese(tool_report("json"))


@pytest.fixture
def tool_report():
    from tf2npu.report.model.build import build

    report = build([convert_source("import tensorflow as tf\ns = tf.Session(**k)\n", "m.py")])
    report.language = "zh"
    assert as_json.load(as_json.render(report)).language == "en"

    def render(chosen: str) -> str:
        if chosen == "html":
            return "".join(
                dict(as_html.Pages(localized(report, "zh")).texts())[name] for name in ("index.html", "decisions.html")
            )
        return writer.text_of(report, chosen)

    return render


def test_a_page_of_a_file_is_chinese_but_for_its_code():
    from tf2npu.report.model.build import build

    result = convert_source("import tensorflow as tf\n# Write: Before After\ns = tf.Session(**k)\nx = 1\n" + "\n" * 60, "m.py")
    report = build([result])
    report.language = "zh"
    pages = dict(as_html.Pages(localized(report, report.language)).texts())
    page = next(text for name, text in pages.items() if name.startswith("files/"))
    assert said_in_latin(page, "m.py") == []
    assert "# Write: Before After" in re.sub(r"<[^>]+>", "", page)


def said_in_latin(page: str, *names: str) -> list[str]:
    """Text of a page, code aside, that is not Chinese and no name."""
    not_said = r"<(style|script|pre)\b.*?</\1>|<td(?! class=says)[^>]*>.*?(?=<t[rd]|</t)|<code>.*?</code>|<bdi.*?</bdi>"
    body = re.sub(not_said, "", page, flags=re.DOTALL)
    said = [text.strip() for text in re.findall(r">([^<>]+)<", body) if re.search("[A-Za-z]{3}", text)]
    return [text for text in said if not is_chinese(text) and not text.startswith(("tf2npu", "NPU", "API", *names))]


def test_no_page_of_the_report_says_anything_in_english():
    from tf2npu.report.model.build import build

    code = (
        "import tensorflow as tf\ns = tf.Session(**k)\ny = tf.py_func(f, [], tf.float32)\nd = tf.data.Dataset.range(9).batch(3)\n"
    )
    report = replace(build([convert_source(code, "m.py")]), language="zh")
    pages = {n: text for n, text in as_html.Pages(localized(report, "zh")).texts() if n.endswith(".html")}
    assert {"index.html", "decisions.html", "findings.html", "files.html", "apis.html", "rules.html"} <= pages.keys()
    assert {name: said for name, page in pages.items() if (said := said_in_latin(page, "m.py", "drop_remainder"))} == {}
    fields = [
        text
        for page in pages.values()
        for text in re.findall(r'(?:aria-label|placeholder|data-(?!row)[a-z-]+)="([A-Za-z][^"]* [^"]*)"', page)
    ]
    assert [text for text in fields if not is_chinese(text)] == []


def test_rules_are_explained_in_chinese():
    entry = entries("NPU101", "zh")[0]
    assert all(is_chinese(entry[name]) for name in ("title", "what", "why"))
    assert entries("NPU101")[0]["examples"] == entry["examples"]


def test_levels_statuses_and_verdicts_are_chinese_where_they_are_shown_and_english_where_they_are_data():
    words = {word.value for kind in (Level, Status, Verdict) for word in kind}
    assert all(is_chinese(catalogue("zh").word(word)) and catalogue("en").word(word) == word for word in words)
    pages = dict(as_html.Pages(replace(sample(), language="zh")).texts())
    assert re.findall(r'<option value="(\w+)">', pages["findings.html"]) == [level.value for level in Level]
    for name, page in pages.items():
        assert not name.endswith(".html") or not words & set(re.findall(r">(?:\d+ )?(\w+)</(?:span|dt|option)>", page)), name
    assert "<title>tf2npu 报告</title>" in pages["index.html"]
    kept = catalogue("zh").text(STAYS_OPEN.format("fixed"))
    assert "fixed.close()" in kept, "a name of the user's is no level"


def test_a_list_that_was_cut_says_so_in_chinese():
    line = catalogue("zh").text(replace(sample(), language="zh").headline)
    assert "另有 1 处" in line and "more" not in line


def test_every_note_of_an_api_is_chinese():
    with (writer._PACKAGE / "api_support" / "data" / "apis.csv").open(encoding="utf-8", newline="") as file:
        notes = {row["note"] for row in csv.DictReader(file)} - {""}
    notes |= {value for name, value in vars(uses).items() if name.isupper() and isinstance(value, str)}
    assert len(notes) > 100
    assert not [note for note in notes if not catalogue("zh").has(note)]


@pytest.mark.parametrize("form", ["text", "md"])
def test_what_stands_around_a_rule_is_chinese(form):
    for rule_id in ("NPU101", "NPU001", "NPU951"):
        said = render(entries(rule_id, "zh"), form, in_full=True, language="zh")
        assert "匹配：" in said and not re.search("Matches|Source|Reported as|reported as|Stays| more ", said), said
    assert render(entries("NPU101"), form, in_full=True).count("Source: ") == 1
