"""A report as a reader of another language gets it; report.json stays English, so that it can be shown in any language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tf2npu.report.formats.as_text import Line
from tf2npu.report.languages.language import catalogue, warn_of_english
from tf2npu.report.model.counts import in_language
from tf2npu.report.model.report import Report
from tf2npu.rules.plugins import PLUGIN_IDS

_FINDING_LINE = re.compile(r".*:\d+:\d+: \w+ \w+ ")


def localized(report: Report, language: str) -> Report:
    """The report with what its findings say in the language; what it holds otherwise is not copied."""
    if language == "en":
        return report
    texts = catalogue(language)
    told = {(finding.rule, finding.message) for _, finding in report.findings() if finding.rule.startswith(PLUGIN_IDS)}
    for rule_id in sorted({rule_id for rule_id, message in told if not texts.has(message)}):
        warn_of_english(rule_id, language)
    files = [
        replace(file, findings=[replace(finding, message=in_language(finding.message, language)) for finding in file.findings])
        for file in report.files
    ]
    return replace(report, files=files, language=language, english=report)


def localized_lines(lines: Iterable[Line], language: str) -> Iterator[Line]:
    """Lines of the text report in the language; those of findings are so already, and keep their levels and ids."""
    texts = catalogue(language)
    for line in lines:
        yield line if _FINDING_LINE.match(line.text) else Line(texts.text(line.text), line.style)
