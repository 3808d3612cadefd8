"""Findings and places are two numbers, and each is the same wherever it stands."""

import json
import re

import jsonschema
import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.report.formats import as_json, as_text
from tf2npu.report.formats.localized import localized
from tf2npu.report.formats.render_context import page_name
from tf2npu.report.html import as_html
from tf2npu.report.model.build import build


@pytest.mark.parametrize(("calls", "n_places"), [(1, 1), (3, 3), (30, 30)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_number_is_that_of_its_name(calls, n_places, language):
    source = "import tensorflow as tf\nimport numpy as np\n" + "".join(f"x{n} = np.loads({n})\n" for n in range(calls))
    report = build([convert_source(source, "m.py")])
    work = [finding for _, finding in report.findings() if finding.level.value == "manual"]
    assert len(work) == 1
    document = json.loads(as_json.render(report))
    jsonschema.validate(document, json.loads(as_json.SCHEMA_FILE.read_text(encoding="utf-8")))
    assert (document["summary"]["findings"]["manual"], document["summary"]["places"]["manual"]) == (1, n_places)
    report = localized(report, language)
    pages = dict(as_html.Pages(report).texts())
    for name in ("decisions.html", "findings.html"):
        rows = re.findall(r'data-row="manual" data-findings="(\d+)" data-places="(\d+)"', pages[name])
        assert [sum(map(int, numbers)) for numbers in zip(*rows, strict=True)] == [1, n_places]
    assert re.search(rf"(?<!\d){n_places} (?:such places|places|处)", pages[page_name("m.py")]) or n_places == 1
    if language == "en":
        at = f"1 finding at {n_places} places" if n_places > 1 else "1 finding"
        assert f"{at} in 1 file for a person to look at." in pages["index.html"]
        for name in ("index.html", "decisions.html"):
            assert re.search(rf'<span class="soft small">{at}, 1 file(, [^<]*)?</span>', pages[name]), name
        n_all = sum(document["summary"]["findings"].values())
        found = f"{n_all} finding{'s' * (n_all > 1)}" + (f" at {n_all - 1 + n_places} places" if n_places > 1 else "")
        assert f"{found}: " in as_text.render(report)
