"""Pages of all APIs, a page a module, out of the table that the converter reads."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from tf2npu.api_support.table import Api, not_simulated_part, shown, table
from tf2npu.findings import Verdict

FOLDER = "apis/"
_OWN_PAGE = 8
"""A module with fewer APIs stands on the page of the package above it, so that no page holds two lines."""
_SPLIT = ("tensorflow.contrib", "tensorflow.python")
"""Packages of several hundred APIs, whose modules have pages of their own."""
_OTHER_SPELLINGS = ("tensorflow.python.", "tensorflow.compat.")
"""Beginnings of names that nearly every API has as well; pages leave them out, `tf2npu api` takes them."""


def pages() -> dict[str, str]:
    """Markdown by path on the site: the list of modules, and a page for each."""
    modules = by_module()
    return {
        f"{FOLDER}index.md": _index(modules),
        **{f"{FOLDER}{shown(module)}.md": _page(module, apis) for module, apis in modules.items()},
    }


def by_module() -> dict[str, list[Api]]:
    """The APIs of each page, by the qualified name of a module; each API once, in the order of the alphabet."""
    counts = Counter(_module(api.name) for api in table())
    found: dict[str, list[Api]] = defaultdict(list)
    for api in sorted(table(), key=lambda api: api.name):
        module = _module(api.name)
        found[module if counts[module] >= _OWN_PAGE else module.partition(".")[0]].append(api)
    return dict(sorted(found.items()))


def _module(name: str) -> str:
    parts = name.split(".")
    deep = 3 if ".".join(parts[:2]) in _SPLIT else 2
    return ".".join(parts[:deep]) if len(parts) > deep else ".".join(parts[: deep - 1])


def _index(modules: dict[str, list[Api]]) -> str:
    lines = [
        "# APIs",
        "",
        "What becomes of each API of TensorFlow 1.15 and Horovod on an NPU. `tf2npu api NAME` prints the same for one name, by",
        "any spelling, with its signature. [What the verdicts mean, and where they come from](../api_support.md).",
        "",
        "| module | " + " | ".join(verdict.value for verdict in Verdict) + " |",
        "|---|" + "---:|" * len(Verdict),
    ]
    return "\n".join([*lines, *(_module_row(module, apis) for module, apis in modules.items())]) + "\n"


def _module_row(module: str, apis: list[Api]) -> str:
    counts = Counter(api.verdict for api in apis)
    return f"| [`{shown(module)}`]({shown(module)}.md) | " + " | ".join(str(counts[v] or "") for v in Verdict) + " |"


def _page(module: str, apis: list[Api]) -> str:
    lines = [
        f"# {shown(module)}",
        "",
        "[All modules](index.md); [what the verdicts mean](../api_support.md#verdicts).",
        "",
        "| API | verdict | rule | what to know |",
        "|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_row, apis)]) + "\n"


def _row(api: Api) -> str:
    rule = f"[{api.rule}](../generated/rules.md#{api.rule.lower()})" if api.rule else ""
    absent = not_simulated_part(api.name) is not None and api.verdict is not Verdict.UNSUPPORTED
    notes = [_escaped(api.note), "A simulated run does not have it." if absent else ""]
    aliases = ", ".join(f"`{shown(alias)}`" for alias in api.aliases if not alias.startswith(_OTHER_SPELLINGS))
    also = f"<br>also {aliases}" if aliases else ""
    return f"| `{shown(api.name)}`{also} | {api.verdict.value} | {rule} | {'; '.join(filter(None, notes))} |"


def _escaped(text: str) -> str:
    """Text in which Markdown sees no table, emphasis, link or tag."""
    entities = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return re.sub(r"[*_\[`]", r"\\\g<0>", entities)
