"""report.json: fits its schema, and is the report again when it is read, whatever text a project holds."""

import json
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from tests.report import samples
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_json, as_text
from tf2npu.report.formats.localized import localized_lines
from tf2npu.report.html import as_html

SCHEMA = json.loads(as_json.SCHEMA_FILE.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_keys_of_a_report_and_of_a_finding():
    document = json.loads(as_json.render(samples.sample()))
    assert list(document) == ["schema_version", "tool", "summary", "apis", "files"]
    assert document["tool"]["name"] == "tf2npu"
    finding = next(f for f in document["files"] if f["path"] == "train.py")["findings"][2]
    place = {"line": 35, "column": 6, "end_line": 35, "end_column": 18}
    message = "the session gets npu_config_proto"
    assert finding == {
        "rule": "NPU101", "level": "fixed", "api": "tensorflow.Session", **place, "message": message,
        "before": "tf.Session()", "after": "", "doc": "", "part": "session_config",
    }  # fmt: skip


RUN = {
    "script": "train.py", "exit_code": 0, "device": "simulated Ascend910A", "steps": 12, "device_share": 0.5, "recompilations": 1,
    "host_nodes": [{"reason": "text <is> host data", "count": 2, "example": "a/b"}],
    "sessions": [{"name": "session 1", "runs": [{
        "fetches": ["loss:0"], "steps": 12, "recompilations": 1, "device_nodes": 3, "host_nodes": 2, "device_share": 0.5,
        "step_seconds": 0.004, "arena_bytes": 2_000_000, "live_bytes": 1_500_000, "variable_bytes": 500_000,
        "device_types": {"<float16>": 3},
    }], "place": "train.py:35"}],
    "options_without_effect": [{"option": "dump_mode", "effect": "recorded"}], "sessions_left_open": ["train.py:3"],
    "sessions_on_tensorflow": ["freeze.py:7"], "uncounted_nodes": 34, "tuning": ["tuning: GA: 3 operators"],
    "precision": ["precision: force_fp16: 3 nodes in <float16>"], "new_shapes": 6,
    "shape_changes": [{"input": "<x>:0", "count": 7, "shapes": ["[4,3]", "[5,3]"], "places": ["train.py:12"]}],
    "ranks": [{
        "rank": 0, "steps": 12, "step_seconds": 0.25, "collective_seconds": 1.5, "times_last": 7, "seconds_awaited": 0.75,
        "scalars": [{"name": "<loss>:0", "first": "2.5", "last": "nan", "points": [[1, "2.5"], [7, "1.25"], [12, "nan"]]}],
    }],
    "memory_bytes": 32_000_000_000,
    "timeline": {"seconds": 2.0, "streams": [
        {"name": "compile", "seconds": 0.5, "spans": [[0.0, 0.5, 0.5]]},
        {"name": "device", "seconds": 1.0, "spans": [[0.5, 2.0, 1.0]]},
    ]},
    "work": [{"op": "<MatMul>", "operations": 3e6}, {"op": "others", "operations": 1.0}],
    "scalars": [{"name": "<loss>:0", "first": "2.5", "last": "nan"}],
    "files": {"train.py": "0"},
    "reached_files": [{"path": "train.py", "reached": [[35, 35], [36, 36]], "not_reached": [[2, 2]]}],
    "device_lines": [{"path": "train.py", "line": 37, "count": 2}],
    "host_lines": [
        {"place": "out/train.py:37", "at": {"path": "train.py", "line": 36}, "reason": "text <is> host data", "count": 2,
         "example": "<a>/b", "is_expected": True, "finding": {"rule": "NPU901", "path": "train.py", "line": 36}},
        {"place": "<b>.py:1", "at": None, "reason": "no <kernel>", "count": 1, "example": "c", "is_expected": False,
         "finding": None},
    ],
    "input_lines": [
        {"input": "<x>:0", "lines": [{"path": "train.py", "line": 36}], "count": 7, "shapes": ["[4,3]"], "steps": 12},
    ],
    "api_lines": [{"path": "train.py", "line": 36, "apis": ["tensorflow.py_func", "<b>"]}],
    "session_lines": [{"path": "train.py", "line": 35, "ran_on": "device", "is_left_open": False}],
    "failure": {
        "type": "ValueError", "message": "no <row>", "place": "train.py:36", "node": "a/b", "op": "PyFunc",
        "node_place": "train.py:36", "finding": {"rule": "NPU901", "path": "train.py", "line": 36},
    },
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_run_fits_the_schema_comes_back_and_is_shown(language):
    report = replace(samples.sample(samples.NAMES_BELOW_SRC), run=RUN, language=language)
    text = as_json.render(report)
    jsonschema.validate(json.loads(text), SCHEMA)
    assert as_json.load(text).run == RUN
    page = dict(as_html.Pages(report).texts())["runs.html"]
    assert "<script>d" not in page and "<a>" not in page and "<loss>" not in page
    for shown in (
        "train.py",
        "2.5 MB",
        "250",
        "&lt;MatMul&gt;",
        "&lt;float16&gt; 3",
        'points="0.0,0.0 545.5,200.0"',
        "M250.0 20v-13.3h750.0v13.3z",
        "no &lt;kernel&gt;",
        "50.00",
        "34",
        "text &lt;is&gt; host data",
        "dump_mode",
        "train.py:3",
        "freeze.py:7",
        'id="timeline"',
        "force_fp16",
        "no &lt;row&gt;",
        "&lt;loss&gt;:0: 2.5 → nan",
        "&lt;x&gt;:0",
        "[4,3], [5,3]",
        "train.py:12",
    ):
        assert shown in page, shown
    said = as_text.render(report)
    assert "It failed with ValueError: no <row>\n  at train.py:36\n  in the node a/b (PyFunc), made at train.py:36\n" in said
    assert "  precision: force_fp16: 3 nodes in <float16>" in said
    assert ", with 1 recompilation for 6 new shapes.\n" in said
    assert "  <x>:0 had 7 shapes: [4,3], [5,3] and 5 more, run at train.py:12\n" in said
    assert "Not counted among these operations: 34 nodes whose shapes only a run tells." in said
    assert "on the host: 2 nodes such as a/b: text <is> host data" in said and "made at train.py:3" in said
    assert "  rank 0: 12 steps of 0.25 s, 1.5 s in collective operations, awaited by the others for 0.75 s (last 7 times)" in said
    without = replace(report, run={**RUN, "sessions": [], "device": ""}, language="en")
    assert "train.py ended with exit code 0; no session ran on the device." in as_text.render(without)
    assert "runs.html" not in dict(as_html.Pages(samples.sample()).texts())


CHECK = {
    "script": "train.py", "steps": 3, "modes": [
        {"mode": "must_keep_origin_dtype", "verdict": "agrees", "cause": "", "first_difference": None, "least_change": []},
        {
            "mode": "allow_mix_precision", "verdict": "differs", "cause": "precision",
            "first_difference": {"node": "<b>scores</b>", "op": "MatMul", "place": "model.py:88"},
            "least_change": ["scores", "exp", "sum", "mean"],
        },
        {"mode": "force_fp16", "verdict": "failed", "cause": "", "first_difference": None, "least_change": []},
    ],
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_check_fits_the_schema_comes_back_and_is_shown(language):
    report = replace(samples.sample(samples.NAMES_BELOW_SRC), check=CHECK, language=language)
    text = as_json.render(report)
    jsonschema.validate(json.loads(text), SCHEMA)
    assert as_json.load(text).check == CHECK
    page = dict(as_html.Pages(report).texts())["runs.html"]
    assert "&lt;b&gt;scores&lt;/b&gt; (MatMul), model.py:88" in page and 'id="check"' in page
    assert ("由低精度引起" if language == "zh" else "because of low precision") in page
    assert as_text.render(report).count("scores, exp, sum and 1 more") == 1
    assert "  precision mode force_fp16: failed in its run\n" in as_text.render(report)
    said = "".join(line.text for line in localized_lines(as_text.full(report), language))
    assert ("精度模式 force_fp16：运行失败" in said) == (language == "zh")


def test_a_report_without_a_check_is_as_it_was():
    report = samples.sample()
    assert '"check"' not in as_json.render(report) and "accuracy" not in as_text.render(report)
    assert "runs.html" not in dict(as_html.Pages(report).texts())


def test_the_summary_counts_files_and_findings():
    summary = json.loads(as_json.render(samples.sample()))["summary"]
    n_pages = 1 + len(samples.HOSTILE_NAMES)
    assert summary["files"] == {"converted": n_pages, "unchanged": 1, "copied": 1, "conflict": 1, "failed": 1}
    assert summary["findings"] == {
        "fixed": 2 * n_pages, "manual": n_pages + 1, "unsupported": n_pages, "skipped": 1, "info": n_pages
    }  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(samples.reports)
def test_any_report_fits_the_schema_and_comes_back_unchanged(report):
    text = as_json.render(report)
    VALIDATOR.validate(json.loads(text))
    assert as_json.load(text) == report
    assert as_json.render(as_json.load(text)) == text
    text.encode("ascii")


def test_the_sample_fits_the_schema():
    VALIDATOR.validate(json.loads(as_json.render(samples.sample())))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nonsense", '{"schema_version": 3}', '{"schema_version": "1.0"}', "[" * 100_000]
)
def test_what_is_no_report_is_named_so(text):
    with pytest.raises(NotAReport, match="not a tf2npu report"):
        as_json.load(text)


def test_a_later_schema_is_refused():
    text = as_json.render(samples.sample()).replace('"schema_version": "1.1"', '"schema_version": "2.0"')
    with pytest.raises(NotAReport, match=r"schema version 2\.0"):
        as_json.load(text)
