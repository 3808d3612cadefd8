"""A damaged report.json is one line that says where, or a report that every format can show."""

import copy
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.how_many import drawn
from tests.report import samples
from tests.report.test_json import CHECK, RUN
from tf2npu.report import writer
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_json, as_xlsx
from tf2npu.report.formats.localized import localized
from tf2npu.report.html import as_html
from tf2npu.report.html.single_file import single_file

VALUES = [
    None, -1, 0, 10**12, 10**30, 1.5, "", "x", "<script>alert(1)</script>", "\x1b[31m", "../../../x", "/abs/p", "a/../b", [], {},
    [[]], True, "\ud800", "a\0b", "NaN", float("nan"), float("inf"), "x" * 100_000, 2**31 - 1, -(2**63), {"a": 1},
]  # fmt: skip


def document() -> dict:
    report = samples.sample(samples.NAMES_BELOW_SRC)
    report.run = RUN
    report.earlier_runs = [{**RUN, "script": "eval.py", "files": {"eval.py": "0"}, "changed_files": ["eval.py"]}]
    report.check = CHECK
    document = json.loads(as_json.render(report))
    notebook = copy.deepcopy(document["files"][0])
    notebook |= {"path": "a.ipynb", "cell_lines": [1, 9]}
    notebook["findings"] = [{**finding, "cell": 1, "known": True} for finding in notebook["findings"]]
    document["files"].append(notebook)
    return document


WHOLE = document()


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Every place of a document, as the keys that lead there."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(*path, key) for key, _ in below] + [place for key, item in below for place in places(item, (*path, key))]


PLACES = places(WHOLE)


def changed(place: tuple, value: object) -> dict:
    document = copy.deepcopy(WHOLE)
    at = document
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return document


def is_shown_or_refused(text: str) -> None:
    """Load it and render every format; what is refused is refused in one short line."""
    try:
        report = as_json.load(text)
    except NotAReport as error:
        assert "\n" not in str(error) and len(str(error)) < 300
        return
    for name in writer.FORMATS:
        if name == "html":
            list(as_html.Pages(report).texts())
        elif name == "one-file":
            single_file(report)
        elif name == "xlsx":
            list(as_xlsx.pieces(report) if as_xlsx.is_possible() else [])
        else:
            writer.text_of(report, name).encode("utf-8")
    localized(report, "zh")


@settings(max_examples=drawn(150, 12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), st.sampled_from(VALUES))
def test_one_wrong_value_is_named_or_harmless(place, value):
    is_shown_or_refused(json.dumps(changed(place, value)))


@settings(max_examples=drawn(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_many_wrong_values_and_missing_keys(seed):
    rnd = random.Random(seed)
    document = copy.deepcopy(WHOLE)
    for _ in range(rnd.randrange(1, 6)):
        place = rnd.choice(places(document))
        at = document
        for key in place[:-1]:
            at = at[key]
        if isinstance(at, dict) and rnd.random() < 0.3:
            del at[place[-1]]
        else:
            at[place[-1]] = copy.deepcopy(rnd.choice(VALUES))
        if not document:
            break
    is_shown_or_refused(json.dumps(document))


@pytest.mark.parametrize(
    "place, value, said",
    [
        (("files", 0, "findings", 0, "line"), "7", "$.files[0].findings[0].line"),
        (("files", 0, "findings", 0, "line"), 0, "$.files[0].findings[0].line"),
        (("files", 0, "findings", 0, "level"), "red", "$.files[0].findings[0].level"),
        (("files", 1, "path"), "../x", "$.files[1].path"),
        (("files", 1, "path"), "/etc/passwd", "$.files[1].path"),
        (("files", 1, "path"), "", "$.files[1].path"),
        (("files", 0, "changes", 1, "end_line"), 1, "$.files[0].changes[1]"),
        (("files", 0, "cell_lines"), [0], "$.files[0].cell_lines[0]"),
        (("run", "device_share"), 1.5, "$.run.device_share"),
        (("run", "device_share"), float("nan"), "$.run.device_share"),
        (("run", "sessions", 0, "runs", 0, "steps"), None, "$.run.sessions[0].runs[0].steps"),
        (("check", "modes", 1, "cause"), "weather", "$.check.modes[1].cause"),
        (("check", "modes", 1, "first_difference", "place"), 1, "$.check.modes[1].first_difference.place"),
        (("summary", "distributed", "mode"), "mpi", "$.summary.distributed.mode"),
        (("apis", 0, "places"), [1], "$.apis[0].places[0]"),
        (("tool", "name"), "other", "$.tool.name"),
        (("schema_version",), "1", "$.schema_version"),
    ],
)
def test_the_place_of_a_wrong_value_is_named(place, value, said):
    with pytest.raises(NotAReport) as caught:
        as_json.load(json.dumps(changed(place, value)))
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["9" * 5000, '{"a": ' + "9" * 5000 + "}", "[" * 200_000, '{"a":' * 100_000, "\ufeff{}", "NaN"])
def test_what_json_itself_stumbles_over_is_refused(text):
    with pytest.raises(NotAReport, match="not a tf2npu report"):
        as_json.load(text)


def test_what_is_not_utf_8_is_refused():
    with pytest.raises(NotAReport, match="not a tf2npu report"):
        as_json.load(b"\xff\xfe{}")


def test_keys_of_a_later_version_are_passed_over():
    later = copy.deepcopy(WHOLE)
    later["schema_version"] = "1.9"
    later["files"][0]["colour"] = later["summary"]["colour"] = {"red": 1}
    assert as_json.load(json.dumps(later)) == as_json.load(json.dumps(WHOLE))
