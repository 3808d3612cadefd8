"""Limits in the vendor's words, read as facts of our own.

Patterns know the phrases that recur. Lines that were read by a person have a row in limits_by_hand.csv: the first digits of the
line's SHA-256, and facts or a note that say it in our words. So none of the vendor's sentences stands here, and a line that the
vendor changes is again one that nobody has read: it becomes the fact `page`.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from npu_formats.pytorch.limit_facts import TYPES, Fact, facts_of
from tools.pytorch_support.vendor_pages import CHIPS

BY_HAND = Path(__file__).with_name("limits_by_hand.csv")
ONLY = r"(?:仅支持设置为|仅支持传入|仅支持|只支持)"
NAMES = r"(?P<names>[A-Za-z_]+(?:、[A-Za-z_]+)*)"
TYPE_LIST = rf"(?P<types>(?:{'|'.join(TYPES)}|double)(?:[，,、和\s]+(?:{'|'.join(TYPES)}|double))*)"
TERM = r"<term>[^<]+</term>"
SCOPE = re.compile(rf"^(?:针对)?(?P<terms>{TERM}(?:[、/]{TERM})*)\s*[：，]?\s*(?P<rest>.*)$")
DIMENSIONS = r"(?P<n>\d)维"
PATTERNS: tuple[tuple[str, str], ...] = (
    ("types", rf"{NAMES}{ONLY}(?:输出)?{TYPE_LIST}(?:数据类型)?"),
    ("not_types", rf"不支持{TYPE_LIST}(?:数据类型)?"),
    ("more_types", rf"额外支持{TYPE_LIST}"),
    ("maybe_cpu", r".*可能回退至CPU执行"),
    ("cpu", r"回退至CPU执行"),
    ("cpu_only", r"仅CPU支持"),
    ("inference", r".*仅支持推理.*不支持训练.*"),
    ("max_dims", rf"输入最大支持{DIMENSIONS}|输入tensor的维度不大于{DIMENSIONS.replace('<n>', '<m>')}"),
    ("dims", r"(?:[a-z]+)?(?:仅|只)?支持(?P<range>\d-\d)维"),
    ("min_dims", rf"该API仅支持{DIMENSIONS}及以上的输入input"),
    ("types_max_dims", rf"(?P<names>{'|'.join(TYPES)})不支持{DIMENSIONS}以上"),
    ("below", rf"不支持{DIMENSIONS}度(?:及以上输入|的shape)"),
    ("not_dims", rf"(?:入参)?(?P<names>[a-z]+)不支持{DIMENSIONS}"),
    ("not_argument", r"不支持(?P<names>[a-z_]+)(?:参数)?"),
    ("only", rf"(?:当前)?{NAMES}(?:参数)?{ONLY}(?P<value>-?\w+)"),
)
"""Kinds of facts with the phrases that say them, without quotes; the first that fits a whole line is taken."""


def facts(lines: list[str]) -> tuple[Fact, ...]:
    """The facts of lines of limits, in their order, each once."""
    found = [fact for line in lines for fact in _facts_of_line(line)]
    return tuple(dict.fromkeys(found))


def digest(line: str) -> str:
    """The key of a line in limits_by_hand.csv."""
    return hashlib.sha256(line.encode()).hexdigest()[:12]


def _facts_of_line(line: str) -> Iterator[Fact]:
    by_hand = _by_hand()
    if (key := digest(line)) in by_hand:
        yield from facts_of(by_hand[key])
        return
    scope = SCOPE.match(line)
    chips = tuple(CHIPS.get(term, "") for term in re.findall("<term>([^<]+)</term>", scope["terms"])) if scope else ()
    words = (scope["rest"] if scope else line).replace("`", "").replace('"', "").strip()
    if "" in chips:
        yield Fact("page")
        return
    yield from _phrase(words, chips) or [Fact("page", chips=chips)]


def _phrase(words: str, chips: tuple[str, ...]) -> list[Fact]:
    for kind, pattern in PATTERNS:
        if found := re.fullmatch(pattern, words):
            return [_fact(kind, name, found.groupdict(), chips) for name in (found.groupdict().get("names") or "").split("、")]
    return []


def _fact(kind: str, name: str, found: dict[str, str], chips: tuple[str, ...]) -> Fact:
    if kind in ("types", "not_types", "more_types"):
        words = re.findall(r"\w+", found["types"].replace("和", " "))
        return Fact(kind, name, tuple("fp64" if word == "double" else word for word in words), chips)
    if kind == "below":
        return Fact("max_dims", "", (str(int(found["n"]) - 1),), chips)
    value = found.get("value") or found.get("range") or found.get("n") or found.get("m")
    return Fact(kind, name, (value,) if value else (), chips)


@cache
def _by_hand() -> dict[str, str]:
    """Cells of facts by digest; an empty one for a line that says nothing alone, as the heading of what follows."""
    with BY_HAND.open(encoding="utf-8", newline="") as file:
        return {row["digest"]: row["facts"] for row in csv.DictReader(file)}
