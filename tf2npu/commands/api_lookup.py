"""Rows of a framework's API table for `tf2npu api`: looked up by any spelling or by a pattern, as text or JSON."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher

from npu_formats.device.chip import ChipProblem
from npu_formats.near_names import near_names
from npu_formats.pytorch.chip_column import column_of
from tf2npu.api_support.table import Api, ApiTable, qualified, table
from tf2npu.frameworks.pytorch.apis import ROOTS, apis
from tf2npu.frameworks.registry import known
from tf2npu.refused_request import RefusedRequest
from tf2npu.rules import Example, all_rules

AUTO, TORCH = "auto", "torch"
_SELF = re.compile(r"^\((?:self|cls)(?:, /)?(?:, )?")
_WILD = frozenset("*?[")
_MOST_NEAR = 5
"""Names that are suggested for one that is unknown: more are not read."""
_MOST_ELSEWHERE = 3
"""Most suggestions from other modules: those from the modules whose names are nearest."""
_NARROWEST = {1: len("unsupported")}
"""Columns that are as wide in every list, whatever is in them."""
_REPRS = (
    (re.compile(r"<(?:[\w ]+ )?function (?:[\w.]+\.)?<lambda>[^<>]*>"), "..."),
    (re.compile(r"<function ([\w.]+)\.<locals>\.[\w.]+[^<>]*>"), r"\1(...)"),  # what a function has made
    (re.compile(r"<(?:built-in )?function (\w+)[^<>]*>"), r"\1"),
    (re.compile(r"<class '(?:\w+\.)*(\w+)'>"), r"\1"),
    (re.compile(r"<(\w+\.\w+): [^<>]*>"), r"\1"),  # a member of an enum
    (re.compile(r"<tensorflow\.(?:\w+\.)*([A-Z]\w+) object[^<>]*>"), r"\1()"),
    (re.compile(r"<[^<>]* object[^<>]*>"), "..."),
    (re.compile(r"(?<==)dtype: DT_[^=]*?(?=, \w+=|\)$)"), "..."),  # a message of protobuf's
)
"""Reprs of objects that are defaults of parameters, and their replacements. An object without a name becomes "..."."""


def table_for(framework: str, name: str, chip: str = "") -> ApiTable:
    """The table of a framework; of AUTO that of the name's first part, and of TensorFlow where none has it.

    chip: the one that verdicts are about, as `--soc` names it, or "".
    Raises: RefusedRequest for a chip that is none, and for one with a table that does not tell chips apart.
    """
    root = qualified(name.strip()).partition(".")[0].removesuffix("()")
    if framework == TORCH or (framework == AUTO and root in ROOTS):
        return apis(_short(chip))
    if chip:
        raise RefusedRequest(
            f"{name} is looked up among TensorFlow's names, of which no list tells chips apart: leave --soc out, or give "
            "--framework torch"
        )
    owners = (known_one.apis() for known_one in known() if framework == AUTO and root in known_one.api_roots)
    found: ApiTable = next(owners, table())
    return found


def _short(chip: str) -> str:
    """The name of a chip without `Ascend`."""
    try:
        return column_of(chip).chip if chip else ""
    except ChipProblem as problem:
        raise RefusedRequest(str(problem)) from None


def entries(names: ApiTable, name: str) -> list[Api]:
    """The rows that a name or a pattern (`tf.nn.*`) means, sorted by the name that fits; none for one that is unknown."""
    wanted = _wanted(names, name)
    if _WILD & set(wanted):
        return [api for row in names.fitting(wanted) if (api := names.find(row)) is not None]
    api = names.find(wanted)
    return [] if api is None else [api]


def _wanted(names: ApiTable, name: str) -> str:
    return names.qualified(name.strip().removesuffix("()"))


def suggestions(names: ApiTable, name: str) -> list[str]:
    """Known names that look like this one: spelled nearly so in the same module, or with the same last part elsewhere."""
    wanted = names.qualified(name)
    module, _, last = wanted.rpartition(".")
    beside, elsewhere = [], []
    for each in names.public(names.names()):
        above, _, own = each.rpartition(".")
        if not names.is_dated(each):
            beside += [own] if above == module else []
            elsewhere += [each] if own == last else []
    elsewhere.sort(key=lambda each: (-SequenceMatcher(None, wanted, each).ratio(), each))
    near = [f"{module}.{own}" for own in near_names(last, beside, _MOST_NEAR)]
    return [names.shown(each) for each in (*near, *elsewhere[:_MOST_ELSEWHERE])][:_MOST_NEAR]


def render(names: ApiTable, found: list[Api], chosen: str, name: str = "") -> str:
    """Rows as text, or as a JSON list; a single one in full.  name: what was asked for, under whose names rows are told."""
    if chosen == "json":
        return json.dumps([_document(names, api) for api in found], indent=1) + "\n"
    if len(found) == 1:
        return _in_full(names, found[0])
    fits = names.fitting(_wanted(names, name))
    rows = [(names.shown(fits.get(api.name, api.name)), api.verdict.value, *_chip_cells(found, api), _why(api)) for api in found]
    heads = _chip_heads(found)
    rows = [("API", "verdict", *heads, "what to know"), *rows] if heads else rows
    widths = [max(_NARROWEST.get(place, 0), *(len(row[place]) for row in rows)) for place in range(len(rows[0]) - 1)]
    return "".join("  ".join((*map(str.ljust, row, widths), row[-1])).rstrip() + "\n" for row in rows)


def _chip_heads(found: list[Api]) -> tuple[str, ...]:
    """The chips that rows tell apart."""
    return next((tuple(chip.chip for chip in api.chips) for api in found if api.chips), ())


def _chip_cells(found: list[Api], api: Api) -> tuple[str, ...]:
    words = {chip.chip: chip.word for chip in api.chips}
    return tuple(words.get(head, "-") for head in _chip_heads(found))


def _document(names: ApiTable, api: Api) -> dict[str, object]:
    return {
        "name": api.name,
        "kind": api.kind,
        "verdict": api.verdict.value,
        "rule": api.rule,
        "source": api.source,
        "note": api.note,
        "simulated": names.not_simulated(api.name) is None,
        "signature": _signature(names, api),
        **({"write": {"before": found[0], "after": found[1]}} if (found := _written(names, api)) else {}),
        "aliases": names.public(api.aliases),
        **({"chips": {one.chip: {"support": one.word, "note": one.note} for one in api.chips}} if api.chips else {}),
    }


def _in_full(names: ApiTable, api: Api) -> str:
    chips = f" ({names.judged_for})" if names.judged_for else ""
    lines = [f"{names.shown(api.name)}{_signature(names, api)}", f"  verdict: {api.verdict.value}{chips}"]
    if (written := _written(names, api)) is not None:
        before, after = written
        lines += ["  write:", *(f"    - {line}" for line in before.split("\n")), *(f"    + {line}" for line in after.split("\n"))]
    lines += [f"  rule:    {api.rule} (`tf2npu rules {api.rule}` explains it)"] if api.rule else []
    lines += [f"  note:    {api.note}"] if api.note else []
    lines += ["  chips:", *_chip_lines(api)] if api.chips else []
    if (absent := names.not_simulated(api.name)) is not None:
        use = f"; use {absent[1]} there" if absent[1] else ""
        lines.append(f"  run:     not in a simulated run{use} (`tf2npu rules NPU968` explains it)")
    lines += [f"  source:  {api.source}", f"  kind:    {api.kind}"]
    aliases = [names.shown(name) for name in names.public(api.aliases)]
    lines += [f"  also:    {', '.join(aliases)}"] if aliases else []
    return "\n".join(lines) + "\n"


def _chip_lines(api: Api) -> list[str]:
    """A line for each answer, with the chips that have it."""
    families: dict[tuple[str, str], list[str]] = {}
    for chip in api.chips:
        families.setdefault((chip.word, chip.note), []).append(chip.family)
    return [f"    {', '.join(chips)}: {word}" + (f": {note}" if note else "") for (word, note), chips in families.items()]


def _written(names: ApiTable, api: Api) -> tuple[str, str] | None:
    """The text before and after: of the shortest example of the API's rule, or its name and the one to write; or None."""
    if api.write:
        return names.shown(api.name), api.write
    found = _example(names, api)
    return None if found is None else (found.before, found.write or found.after)


def _example(names: ApiTable, api: Api) -> Example | None:
    """The shortest example of what the API's rule writes, or tells a person to write, at one of its names; or None."""
    rules = [rule for rule in all_rules() if rule.id == api.rule] if api.rule else []
    spellings = (re.escape(names.shown(name)) for name in (api.name, *names.public(api.aliases)))
    spelled = re.compile("|".join(rf"(?<![\w.]){spelling}(?!\w)" for spelling in spellings))
    changed = [one for rule in rules for one in rule.examples if (one.write or one.after) != one.before]
    fitting = [one for one in changed if spelled.search(one.before)]
    return min(fitting, key=lambda one: (len(one.before), one.before), default=None)


def _signature(names: ApiTable, api: Api) -> str:
    """The signature as a caller counts the parameters: without self, and with defaults as one would write them."""
    return without_reprs(_SELF.sub("(", names.signature(api.name)))


def without_reprs(signature: str) -> str:
    """A signature with names in the place of what Python shows of objects: `relu`, and not `<function relu at 0x7f...>`."""
    for pattern, name in _REPRS:
        signature = pattern.sub(name, signature)
    return signature


def _why(api: Api) -> str:
    return " ".join(part for part in (api.rule, api.note) if part)
