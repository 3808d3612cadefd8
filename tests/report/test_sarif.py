"""SARIF: valid against the published schema, and its fixes, applied as the standard says, make the converted file."""

import json
from pathlib import Path

import jsonschema
from hypothesis import HealthCheck, given, settings

from tests.report import samples
from tf2npu.report import as_json, as_sarif
from tf2npu.report.build import build

SCHEMA_FILE = Path(__file__).parents[1] / "fixtures" / "sarif" / "sarif-2.1.0-rtm.5.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
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
        for fix in result.get("fixes", ())
        for change in fix["artifactChanges"]
        for replacement in change["replacements"]
    }
    assert apply(samples.SOURCE, [json.loads(r) for r in replacements]) == converted.after.decode()


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
