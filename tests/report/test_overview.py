"""The first page: coverage, scripts and their evidence, next steps, pictures; what it shows adds up, and it stays small."""

import json
import random
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from benchmarks.large_report import large_report
from tests.report import samples
from tests.report.browser import Browser
from tests.report.test_json import CHECK, RUN
from tf2npu.findings import EntryScript, Finding, Level, Span, Status, Verdict
from tf2npu.report import writer
from tf2npu.report.formats import as_text
from tf2npu.report.formats.render_context import View
from tf2npu.report.html import as_html
from tf2npu.report.html.treemap import HEIGHT, MOST_BOXES, WIDTH, boxes, squarified, tree
from tf2npu.report.model.report import ApiRow, Change, FileReport, Report
from tf2npu.report.work.breakdown import of_projects, of_rules, of_workflows
from tf2npu.report.work.coverage import lines, nearest, not_seen
from tf2npu.report.work.entry_scripts import HOST_EXPORTS, RUNGS, commands, entries
from tf2npu.report.work.next_steps import MOST_STEPS, next_steps


def finding(rule: str, line: int, level: Level = Level.MANUAL, end_line: int = 0, message: str = "look") -> Finding:
    return Finding(rule, level, Span(line, 1, end_line or line, 4), f"{message} at it", part="")


def project() -> Report:
    """Two scripts that share a file, a third that needs a failed one, and a test."""
    files = [
        FileReport("a/eval.py", Status.CONVERTED, [], references=5, lines=10, imports=("a/net.py",)),
        FileReport("a/net.py", Status.CONVERTED, [finding("NPU922", 3)], references=20, lines=30),
        FileReport("a/train.py", Status.CONVERTED, [finding("NPU941", 5)], references=9, lines=40, imports=("a/net.py",)),
        FileReport("b/broken.py", Status.FAILED, [finding("NPU900", 1, Level.SKIPPED)], lines=4),
        FileReport("b/main.py", Status.CONVERTED, [finding("NPU101", 2, Level.FIXED)], references=2, lines=8),
        FileReport("b/test_main.py", Status.UNCHANGED, references=1, lines=3, imports=("b/main.py",)),
    ]  # fmt: skip
    files[4].imports = ("b/broken.py",)
    starts = [
        ("a/eval.py", "guard", False),
        ("a/train.py", "guard", True),
        ("b/main.py", "loading", True),
        ("b/test_main.py", "test", True),
    ]
    apis = (ApiRow("tensorflow.Session", Verdict.CONVERTED, 37, 5),)
    return Report(files, apis=apis, entries=tuple(EntryScript(*one) for one in starts))


def test_each_rung_needs_what_shows_it():
    def rung(**more) -> str:
        return RUNGS[next(e.rung for e in entries(replace(project(), **more)) if e.script.path == "a/train.py")]

    run = {**RUN, "script": "out/a/train.py"}
    check = {**CHECK, "script": "src/a/train.py"}
    assert rung(command="scan") == "not converted"
    assert rung() == "converted"
    assert rung(run={**run, "exit_code": 1, "steps": 0}) == "converted"
    assert rung(run={**run, "exit_code": 1}) == "loads"
    assert rung(run=run) == rung(run=RUN | {"script": "other.py"}, earlier_runs=[run]) == "trains"
    assert rung(run={**run, "changed_files": ["a/net.py"]}) == "converted"
    assert rung(run=run, check=check) == "agrees with the original"
    assert rung(check=check) == "converted", "without a run nothing is known of it here"
    assert rung(run=run, check={**check, "modes": check["modes"][1:]}) == "trains"


def test_a_script_that_needs_a_failed_file_is_not_converted_and_tests_come_last():
    found = entries(project())
    assert [(e.script.path, RUNGS[e.rung], e.open_places) for e in found] == [
        ("a/train.py", "converted", 2), ("b/main.py", "not converted", 1), ("a/eval.py", "converted", 1),
        ("b/test_main.py", "not converted", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["a b/it's.py", "-x.py", "$(id).py", "new\nline.py"])
def test_commands_are_quoted_for_a_shell(path: str):
    for command in commands(project(), EntryScript(path, "guard")):
        text = command.text.replace("python", "printf '%s\\n'").replace("tf2npu", "printf '%s\\n'")
        said = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True).stdout
        assert path in said


def test_the_exports_are_those_that_the_shim_sets():
    from npu_bridge._environment import DEFAULTS

    assert f"export {' '.join(f'{name}={value}' for name, value in DEFAULTS.items())}" == HOST_EXPORTS


def test_next_steps_begin_with_what_failed_then_blockers_then_what_most_scripts_need_and_end_with_a_run():
    report = project()
    report.files.append(FileReport("c.py", Status.CONVERTED, [finding("NPU944", 1)], references=1))
    view = View(report)
    steps = next_steps(report, view.decisions, view.entries)
    assert [step.decision.facts.id for step in steps[:-1]] == ["NPU900", "NPU944", "NPU922", "NPU941"]
    assert [step.decision.scripts for step in steps[2:4]] == [2, 1]
    assert steps[-1].command == "tf2npu run --report tf2npu-report a/train.py"
    many = [finding("NPU941", n, message=f"look {n}") for n in range(1, 30)]
    report.files.append(FileReport("d.py", Status.CONVERTED, many, references=1))
    assert len(next_steps(report, View(report).decisions, view.entries)) == MOST_STEPS


def test_every_format_tells_decisions_in_one_order_by_one_name():
    """A decision that fewer scripts need comes later in every list, though its file comes first by name."""
    report = project()
    report.files.insert(0, FileReport("a/alone.py", Status.CONVERTED, [finding("NPU941", 1), finding("NPU101", 2)], references=1))
    report.files.append(FileReport("z.py", Status.CONVERTED, [finding("NPU944", 1)], references=1))
    wanted = [(one.facts.id, one.facts.title) for one in View(report).decisions]
    pages = dict(as_html.Pages(report).texts())
    cards = re.findall(r"<h2>.*?</span> (.*?): [^:]*</h2>", pages["decisions.html"])
    named = {
        name: re.findall(r"<strong>([^<]*)</strong></a>", _section(pages["index.html"], name))
        for name in ("left_to_do", "next_steps")
    }
    assert cards == named["left_to_do"] == [title for _, title in wanted]
    assert named["next_steps"] == cards[: len(named["next_steps"])] and named["next_steps"]
    text = [line.split()[2] for line in as_text.render(report).split("Left to do:")[1].split("\n\n")[0].splitlines()[1:]]
    assert list(dict.fromkeys(text)) == list(dict.fromkeys(rule for rule, _ in wanted))


def _section(page: str, name: str) -> str:
    return page.split(f'<section id="{name}"')[1].split("</section>")[0]


def test_lines_are_counted_once_under_who_touches_them():
    changes = [
        Change("NPU100", Span(1, 1, 1, 1), "import a\nimport b\n"),
        Change("NPU101", Span(4, 3, 4, 9), "x"),
        Change("NPU101", Span(6, 1, 8, 1), ""),
        Change("NPU101", Span(9, 1, 9, 2), "y"),
    ]
    file = FileReport("a.py", Status.CONVERTED, [finding("NPU922", 9, end_line=10), finding("NPU922", 12)], changes, lines=20)
    counted = lines(Report([file]))
    assert (counted.total, counted.tool, counted.person, counted.nobody, counted.added) == (20, 3, 3, 14, 2)
    file.known = {0, 1}
    assert lines(Report([file])).person == 0


def test_what_was_not_looked_at_is_told_with_its_reason():
    report = replace(project(), left_out=("venv/ (virtual environment)",))
    report.files.append(FileReport("README.md", Status.COPIED))
    assert [(one.reason, one.rule, one.count, one.first) for one in not_seen(report)] == [
        ("venv/ (virtual environment)", "", 1, ""),
        ("", "NPU900", 1, "b/broken.py:1"),
        ("They mention neither TensorFlow nor PyTorch", "", 1, ""),
    ]


def test_unknown_names_have_known_ones_beside_them():
    assert nearest("tensorflow.nn.softmax_crossentropy_with_logits")[0] == "tf.nn.softmax_cross_entropy_with_logits"
    assert nearest("tensorflow.trian.AdamOptimiser")[0] == "tf.train.AdamOptimizer"
    assert nearest("tensorflow.qq") == nearest("tensorflow") == nearest("") == []
    assert all(name.startswith("horovod") for name in nearest("horovod.tensorflow"))


def test_projects_are_the_highest_folders_with_code_and_rules_add_up_to_workflows():
    report = project()
    assert [(bar.name, bar.done, bar.open) for bar in of_projects(report)] == [("a", 0, 2), ("b", 1, 1)]
    assert of_projects(Report(report.files[:3])) == [], "one project needs no picture"
    rules, workflows = of_rules(report), of_workflows(report)
    assert sum(bar.total for bar in rules) == sum(bar.total for bar in workflows) == 4
    assert {bar.name: bar.total for bar in workflows}["Sessions"] == 2


def test_a_treemap_fills_its_area_by_weight():
    weights = sorted((random.Random(3).randint(1, 900) for _ in range(60)), reverse=True)
    places = squarified(weights, (5.0, 7.0, 300.0, 200.0))
    for weight, (x, y, width, height) in zip(weights, places, strict=True):
        assert width * height == pytest.approx(60000 * weight / sum(weights))
        assert x >= 5 - 1e-6 and y >= 7 - 1e-6 and x + width <= 305 + 1e-6 and y + height <= 207 + 1e-6
    for n, (x, y, width, height) in enumerate(places):
        for a, b, c, d in places[:n]:
            assert min(x + width, a + c) - max(x, a) < 1e-6 or min(y + height, b + d) - max(y, b) < 1e-6, "two boxes overlap"


def test_boxes_lie_in_their_folders_and_the_whole_counts_all():
    report = project()
    drawn = boxes(tree(report), "others")
    assert (drawn[0].node.weight, drawn[0].node.open, drawn[0].node.label) == (38, 3, "failed")
    assert (drawn[0].width, drawn[0].height) == (WIDTH, HEIGHT)
    for box in drawn[1:]:
        holder = drawn[box.parent]
        assert holder.x <= box.x and box.x + box.width <= holder.x + holder.width + 1e-6
        assert holder.y <= box.y and box.y + box.height <= holder.y + holder.height + 1e-6


def test_a_path_of_thousands_of_folders_is_drawn():
    files = [FileReport(f"{'d/' * 3000}{name}.py", Status.UNCHANGED, references=1) for name in "ab"]
    assert boxes(tree(Report(files)), "others")[0].node.weight == 2


class _Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.count = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.count += 1
        assert not {"style", "onclick"} & {name for name, _ in attrs}


def test_the_first_page_is_small_at_any_size():
    report = large_report(3000, 7000)
    for file in report.files:
        file.references, file.lines = 1 + len(file.path) % 7, 100
    report.entries = tuple(EntryScript(file.path, "guard", True) for file in report.files[::10])
    pages = as_html.Pages(report)
    text = next(text for name, text in pages.texts() if name == "index.html")
    assert len(text.encode()) < 200_000 and _Elements(text).count < 3000
    assert MOST_BOXES <= text.count("<rect x=") <= 2 * MOST_BOXES


def hostile() -> Report:
    report = samples.sample()
    return replace(report, entries=tuple(EntryScript(name, "guard", True) for name in samples.HOSTILE_NAMES))


def test_hostile_names_are_text_on_the_first_page():
    for language in ("en", "zh"):
        text = dict(as_html.Pages(replace(hostile(), language=language)).texts())["index.html"]
        assert "<script>document" not in text and "<img" not in text and "\u202e" not in text
        _Elements(text)


@pytest.fixture
def browser(tmp_path):
    driven = Browser(tmp_path / "profile")
    yield driven
    driven.close()


def _key(name: str, code: int) -> dict[str, object]:
    return {"key": name, "code": name, "windowsVirtualKeyCode": code}


def test_the_treemap_zooms_and_moves_by_keys_and_commands_are_copied(browser, tmp_path):
    writer.write(hostile(), tmp_path / "r", ["html"])
    folder_report = project()
    writer.write(folder_report, tmp_path / "p", ["html"])
    browser.open((tmp_path / "r" / "index.html").as_uri())
    assert browser.ask("document.title") != "owned" and browser.complaints() == []
    browser.open((tmp_path / "p" / "index.html").as_uri())
    view = "document.getElementById('treemap').getAttribute('viewBox')"
    name = "document.activeElement.dataset.name"
    whole = browser.ask(view)
    browser.ask("document.querySelector('#treemap > *').focus()")
    browser.press(_key("ArrowDown", 40))
    assert browser.ask(name) == "a"
    browser.press(_key("ArrowRight", 39))
    assert browser.ask(name) == "b"
    browser.press(_key("ArrowLeft", 37))
    browser.press({**_key("Enter", 13), "text": "\r"})
    assert browser.ask(view) != whole and browser.ask(name) == "net.py"
    browser.press(_key("Escape", 27))
    assert browser.ask(view) == whole and browser.ask(name) == "a"
    browser.ask("document.querySelector('.command button').click()")
    count = "document.querySelectorAll('.command{}').length"
    assert browser.ask(count.format(" button")) == browser.ask(count.format("")) > 0
    assert browser.complaints() == [] and all(url.startswith("file:") for url in browser.requested())
    said = "#verdict > p, #verdict .work"
    bottoms = f"JSON.stringify([...document.querySelectorAll('{said}')].map((e) => e.getBoundingClientRect().bottom))"
    assert re.match(r"[\d. ]+$", whole) and max(json.loads(browser.ask(bottoms))) < 800
