"""SARIF: valid against the published schema, and its fixes, applied as the standard says, make the converted file."""

import dataclasses
import json
from pathlib import Path

import jsonschema
from hypothesis import HealthCheck, given, settings

from npu_formats import toml_document
from tests.report import samples
from tf2npu import convert_source
from tf2npu.report.formats import as_json, as_sarif, rule_list
from tf2npu.report.model.build import build

SCHEMA_FILE = Path(__file__).parents[1] / "fixtures" / "sarif" / "sarif-2.1.0-rtm.5.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
URLS = toml_document.parsed((Path(__file__).parents[2] / "pyproject.toml").read_bytes())["project"]["urls"]
RULES_PAGE = Path(__file__).parents[2] / "docs" / "generated" / "rules.md"
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def test_the_sample_is_valid():
    VALIDATOR.validate(json.loads(as_sarif.render(samples.sample())))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(samples.reports)
def test_any_report_is_valid(report):
    VALIDATOR.validate(json.loads(as_sarif.render(report)))


def test_every_finding_is_a_result_at_its_place():
    report = samples.sample()
    results = json.loads(as_sarif.render(report))["runs"][0]["results"]
    assert len(results) == sum(len(file.findings) for file in report.files)
    result = next(r for r in results if r["ruleId"] == "NPU901")
    assert result["level"] == "error"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 36, "startColumn": 14, "endLine": 36, "endColumn": 24}


def test_a_name_that_is_no_uri_is_encoded():
    uris = [a["location"]["uri"] for a in json.loads(as_sarif.render(samples.sample()))["runs"][0]["artifacts"]]
    assert "undecodable%FF.py" in uris
    assert "javascript%3Adocument.title%3D%27owned%27" in uris


def test_the_fixes_of_a_file_make_the_converted_file():
    converted = samples.result()
    log = json.loads(as_sarif.render(build([converted])))
    replacements = {
        json.dumps(replacement)
        for result in log["runs"][0]["results"]
        if result["properties"]["tf2npu/level"] == "fixed"
        for fix in result.get("fixes", ())
        for change in fix["artifactChanges"]
        for replacement in change["replacements"]
    }
    assert apply(samples.SOURCE, [json.loads(r) for r in replacements]) == converted.after.decode()


def test_code_that_a_person_shall_write_is_a_fix_of_its_place():
    results = json.loads(as_sarif.render(build([samples.result()])))["runs"][0]["results"]
    (fix,) = next(r for r in results if r["ruleId"] == "NPU902")["fixes"]
    (replacement,) = fix["artifactChanges"][0]["replacements"]
    place = samples.SOURCE.index("password")
    expected = samples.SOURCE[:place] + "write(this)" + samples.SOURCE[place + len("password") :]
    assert apply(samples.SOURCE, [replacement]) == expected


def test_code_for_a_place_that_reads_otherwise_is_no_fix():
    report = build([samples.result()])
    (file,) = report.files
    file.findings = [dataclasses.replace(finding, before="other") for finding in file.findings if finding.rule == "NPU902"]
    (result,) = json.loads(as_sarif.render(report))["runs"][0]["results"]
    assert "fixes" not in result


def test_every_fixed_finding_with_code_has_fixes_also_where_its_edit_is_elsewhere():
    code = "import tensorflow as tf\nkw = {'config': tf.ConfigProto()}\nwith tf.Session(**kw) as sess:\n    pass\n"
    converted = convert_source(code, "train.py")
    results = json.loads(as_sarif.render(build([converted])))["runs"][0]["results"]
    fixed = [r for r in results if r["properties"]["tf2npu/level"] == "fixed"]
    assert fixed and all(r["fixes"] for r in fixed)


def test_rules_carry_reasons_and_examples_in_markdown():
    report = build([convert_source("import tensorflow as tf\ns = tf.Session()\n", "train.py")])
    rule = next(r for r in driver(report)["rules"] if r["id"] == "NPU101")
    assert rule["help"]["text"] in rule["help"]["markdown"]
    example = next(e for e in rule_list.entries("NPU101")[0]["examples"] if e["before"] != e["after"])
    assert "```diff\n-" + example["before"].split("\n")[0] in rule["help"]["markdown"]
    assert rule["helpUri"] == f"{URLS['Rules']}#npu101"
    assert rule["helpUri"] in rule["help"]["markdown"]
    assert driver(report)["informationUri"] == URLS["Repository"]
    VALIDATOR.validate(json.loads(as_sarif.render(report)))


def test_the_addresses_are_of_one_repository_and_name_what_is_there():
    root, repository = Path(__file__).parents[2], URLS["Repository"]
    assert all(url.startswith(repository) for url in URLS.values())
    named = [url.removeprefix(f"{repository}/blob/main/") for url in URLS.values() if "/blob/main/" in url]
    assert len(named) == 3 and all((root / path).is_file() for path in named)


def test_rules_name_the_page_that_the_package_names(tmp_path, monkeypatch):
    info = tmp_path / "tf2npu-0.1.0.dist-info"
    info.mkdir()
    page = "https://docs.example.org/rules"
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tf2npu\nVersion: 0.1.0\nProject-URL: Rules, {page}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    report = build([samples.result(), convert_source("import tensorflow as tf\ns = tf.Session()\n", "other.py")])
    VALIDATOR.validate(json.loads(as_sarif.render(report)))
    told = {r["id"]: r.get("helpUri") for r in driver(report)["rules"]}
    assert told["NPU101"] == f"{page}#npu101"
    known = {entry["id"] for entry in rule_list.entries()}
    assert all((uri is not None) == (rule in known) for rule, uri in told.items())


def test_every_rule_has_its_anchor_on_the_page_of_rules():
    headings = {line[3:] for line in RULES_PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("## ")}
    assert {entry["id"] for entry in rule_list.entries()} <= headings


def driver(report) -> dict:
    return json.loads(as_sarif.render(report))["runs"][0]["tool"]["driver"]


def apply(text: str, replacements: list[dict]) -> str:
    """Carry out SARIF replacements: regions in lines and columns, ends exclusive, all relative to the original."""
    lines = text.split("\n")

    def offset(line: int, column: int) -> int:
        return sum(len(one) + 1 for one in lines[: line - 1]) + column - 1

    places = []
    for replacement in replacements:
        region = replacement["deletedRegion"]
        start, end = offset(region["startLine"], region["startColumn"]), offset(region["endLine"], region["endColumn"])
        places.append((start, end, replacement["insertedContent"]["text"]))
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def test_rendered_from_json_it_is_the_same():
    report = samples.sample(samples.NAMES_BELOW_SRC)
    assert as_sarif.render(as_json.load(as_json.render(report))) == as_sarif.render(report)
