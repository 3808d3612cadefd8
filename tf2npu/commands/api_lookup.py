"""Rows of the API table for `tf2npu api`: looked up by any spelling or by a pattern, as text or JSON."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from fnmatch import fnmatchcase

from npu_formats.near_names import near_names
from tf2npu.api_support.table import Api, not_simulated, not_simulated_part, qualified, shown, signatures, table
from tf2npu.rules import Example, all_rules

_SELF = re.compile(r"^\((?:self|cls)(?:, /)?(?:, )?")
_WILD = frozenset("*?[")
_MOST_NEAR = 5
"""Names that are suggested for one that is unknown: more are not read."""
_MOST_ELSEWHERE = 3
"""Most suggestions from other modules: those from the modules whose names are nearest."""
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


def entries(name: str) -> list[Api]:
    """The rows that a name or a pattern (`tf.nn.*`) means, sorted by the name that fits; none for one that is unknown."""
    wanted = _wanted(name)
    if _WILD & set(wanted):
        dated = not wanted.startswith("tensorflow.compat.")
        apis = [api for api in table() if not (dated and api.name.startswith("tensorflow.compat."))]
        fitting = {api: fit for api in apis if (fit := _fitting(api, wanted))}
        return sorted(fitting, key=lambda api: fitting[api])
    api = table().find(wanted)
    return [] if api is None else [api]


def _wanted(name: str) -> str:
    return qualified(name.strip().removesuffix("()"))


def _fitting(api: Api, pattern: str) -> str:
    """The first name of an API that a pattern fits, as the same function may be in tf.nn and in tf.linalg; "" where there is
    none."""
    return next((each for each in (api.name, *_public(api)) if fnmatchcase(each, pattern)), "")


def suggestions(name: str) -> list[str]:
    """Known names that look like this one: spelled nearly so in the same module, or with the same last part elsewhere."""
    wanted = qualified(name)
    module, _, last = wanted.rpartition(".")
    beside, elsewhere = [], []
    for each in table().names():
        above, _, own = each.rpartition(".")
        if ".python." not in each and not each.startswith("tensorflow.compat."):
            beside += [own] if above == module else []
            elsewhere += [each] if own == last else []
    elsewhere.sort(key=lambda each: (-SequenceMatcher(None, wanted, each).ratio(), each))
    near = [f"{module}.{own}" for own in near_names(last, beside, _MOST_NEAR)]
    return [shown(each) for each in (*near, *elsewhere[:_MOST_ELSEWHERE])][:_MOST_NEAR]


def render(found: list[Api], chosen: str, name: str = "") -> str:
    """Rows as text, or as a JSON list; a single one in full.  name: what was asked for, under whose names rows are told."""
    if chosen == "json":
        return json.dumps([_document(api) for api in found], indent=1) + "\n"
    if len(found) == 1:
        return _in_full(found[0])
    names = [shown(_fitting(api, _wanted(name)) or api.name) for api in found]
    width = max(map(len, names))
    rows = zip(names, found, strict=True)
    return "".join(f"{each:<{width}}  {api.verdict.value:<11}  {_why(api)}".rstrip() + "\n" for each, api in rows)


def _document(api: Api) -> dict[str, object]:
    return {
        "name": api.name,
        "kind": api.kind,
        "verdict": api.verdict.value,
        "rule": api.rule,
        "source": api.source,
        "note": api.note,
        "simulated": not_simulated_part(api.name) is None,
        "signature": _signature(api),
        **({"write": {"before": found.before, "after": found.write or found.after}} if (found := _example(api)) else {}),
        "aliases": _public(api),
    }


def _in_full(api: Api) -> str:
    lines = [f"{shown(api.name)}{_signature(api)}", f"  verdict: {api.verdict.value}"]
    if (example := _example(api)) is not None:
        written = example.write or example.after
        lines += ["  write:", *(f"    - {line}" for line in example.before.split("\n"))]
        lines += [f"    + {line}" for line in written.split("\n")]
    lines += [f"  rule:    {api.rule} (`tf2npu rules {api.rule}` explains it)"] if api.rule else []
    lines += [f"  note:    {api.note}"] if api.note else []
    if part := not_simulated_part(api.name):
        use = f"; use {instead} there" if (instead := not_simulated().get(part)) else ""
        lines.append(f"  run:     not in a simulated run{use} (`tf2npu rules NPU968` explains it)")
    lines += [f"  source:  {api.source}", f"  kind:    {api.kind}"]
    aliases = [shown(name) for name in _public(api)]
    lines += [f"  also:    {', '.join(aliases)}"] if aliases else []
    return "\n".join(lines) + "\n"


def _example(api: Api) -> Example | None:
    """The shortest example of what the API's rule writes, or tells a person to write, at one of its names; or None."""
    rules = [rule for rule in all_rules() if rule.id == api.rule] if api.rule else []
    names = re.compile("|".join(rf"(?<![\w.]){re.escape(shown(name))}(?!\w)" for name in (api.name, *_public(api))))
    changed = [one for rule in rules for one in rule.examples if (one.write or one.after) != one.before]
    fitting = [one for one in changed if names.search(one.before)]
    return min(fitting, key=lambda one: (len(one.before), one.before), default=None)


def _signature(api: Api) -> str:
    """The signature as a caller counts the parameters: without self, and with defaults as one would write them."""
    return without_reprs(_SELF.sub("(", signatures().get(api.name, "")))


def without_reprs(signature: str) -> str:
    """A signature with names in the place of what Python shows of objects: `relu`, and not `<function relu at 0x7f...>`."""
    for pattern, name in _REPRS:
        signature = pattern.sub(name, signature)
    return signature


def _public(api: Api) -> list[str]:
    return [name for name in api.aliases if ".python." not in name and not name.startswith("tensorflow.compat.v2.")]


def _why(api: Api) -> str:
    return " ".join(part for part in (api.rule, api.note) if part)
