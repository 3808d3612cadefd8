"""Two reports beside each other as lines for a pipe or a log."""

from __future__ import annotations

from collections.abc import Iterator

from npu_formats.escape import visible
from tf2npu.report.compared.comparison import REASONS, Comparison, Work, by_reason, grouped
from tf2npu.report.compared.sentences import HEADINGS, caveats, sentence, work_left_in_words
from tf2npu.report.formats.as_text import Line, place
from tf2npu.report.languages.language import catalogue


def lines(found: Comparison) -> Iterator[Line]:
    """The numbers, then what is new, what moved and what was closed; a sentence once for all its places."""
    texts = catalogue(found.after.language)
    yield Line(texts.text(sentence(found)), "bold")
    yield Line(texts.text(work_left_in_words(found)))
    yield from (Line(texts.text(caveat)) for caveat in caveats(found))
    was = {pair.after.key: place(pair.before.file.path, pair.before.finding) for pair in found.moved}
    for name, works in (("new", found.new), ("moved", [pair.after for pair in found.moved])):
        if works:
            yield from (Line(""), Line(texts.text(HEADINGS[name]), "bold"), *_listed(found, works, was))
    if found.closed:
        yield from (Line(""), Line(texts.text(HEADINGS["closed"]), "bold"))
        for reason, number in by_reason(found.closed).items():
            yield Line(f"  {number}: {texts.text(REASONS[reason])}")
        yield from _listed(found, [each.work for each in found.closed], {})


def _listed(found: Comparison, works: list[Work], was: dict[str, str]) -> Iterator[Line]:
    """Each place in the form that editors turn into links; what was said before names where."""
    texts = catalogue(found.after.language)
    for group in grouped(works):
        first = place(group.sites[0].file.path, group.sites[0].finding)
        for number, work in enumerate(group.sites):
            said = visible(work.finding.message) if not number else texts.text(f"as at {first}")
            before = f" ({texts.text(f'was at {was[work.key]}')})" if work.key in was else ""
            here = place(work.file.path, work.finding)
            yield Line(f"{here}: {work.label} {visible(work.finding.rule)} {said}{before}")
