"""Rows of the API table for `tf2npu api`: looked up by any spelling or by a pattern, as text or JSON."""

from __future__ import annotations

import difflib
import json
import re
from fnmatch import fnmatchcase

from tf2npu.api_support.table import Api, not_simulated_part, qualified, shown, signatures, table

_SELF = re.compile(r"^\((?:self|cls)(?:, /)?(?:, )?")
_WILD = frozenset("*?[")


def entries(name: str) -> list[Api]:
    """The rows that a name or a pattern (`tf.nn.*`) means, sorted by name; none for one that is unknown."""
    wanted = qualified(name.strip().removesuffix("()"))
    if _WILD & set(wanted):
        dated = not wanted.startswith("tensorflow.compat.")
        apis = (api for api in table() if not (dated and api.name.startswith("tensorflow.compat.")))
        return [api for api in apis if any(fnmatchcase(each, wanted) for each in (api.name, *_public(api)))]
    api = table().find(wanted)
    return [] if api is None else [api]


def suggestions(name: str) -> list[str]:
    """Known names that look like this one: spelled nearly so, or with the same last part elsewhere."""
    wanted = qualified(name)
    names = [each for each in table().names() if ".python." not in each and not each.startswith("tensorflow.compat.")]
    last = wanted.rpartition(".")[2]
    elsewhere = [each for each in names if each.rpartition(".")[2] == last]
    near = difflib.get_close_matches(wanted, names, n=5, cutoff=0.75)
    elsewhere.sort(key=lambda each: (each.startswith("tensorflow.contrib."), each.count("."), each))
    return [shown(each) for each in dict.fromkeys([*elsewhere[:3], *near])][:5]


def render(found: list[Api], chosen: str) -> str:
    """Rows as text, or as a JSON list; a single one in full."""
    if chosen == "json":
        return json.dumps([_document(api) for api in found], indent=1) + "\n"
    if len(found) == 1:
        return _in_full(found[0])
    width = max(len(shown(api.name)) for api in found)
    return "".join(f"{shown(api.name):<{width}}  {api.verdict.value:<11}  {_why(api)}".rstrip() + "\n" for api in found)


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
        "aliases": _public(api),
    }


def _in_full(api: Api) -> str:
    lines = [f"{shown(api.name)}{_signature(api)}", f"  verdict: {api.verdict.value}"]
    lines += [f"  rule:    {api.rule} (`tf2npu rules {api.rule}` explains it)"] if api.rule else []
    lines += [f"  note:    {api.note}"] if api.note else []
    lines += ["  run:     not in a simulated run (`tf2npu rules NPU968` explains it)"] if not_simulated_part(api.name) else []
    lines += [f"  source:  {api.source}", f"  kind:    {api.kind}"]
    aliases = [shown(name) for name in _public(api)]
    lines += [f"  also:    {', '.join(aliases)}"] if aliases else []
    return "\n".join(lines) + "\n"


def _signature(api: Api) -> str:
    """As a caller counts the parameters: without self."""
    return _SELF.sub("(", signatures().get(api.name, ""))


def _public(api: Api) -> list[str]:
    return [name for name in api.aliases if ".python." not in name and not name.startswith("tensorflow.compat.v2.")]


def _why(api: Api) -> str:
    return " ".join(part for part in (api.rule, api.note) if part)
