"""Pages of all APIs, a page a module, out of the tables that the converter reads."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from tf2npu.api_support.table import Api, ApiTable, table
from tf2npu.findings import Verdict
from tf2npu.frameworks.pytorch.apis import apis

FOLDER = "apis/"
TABLES: tuple[tuple[str, ApiTable], ...] = (("TensorFlow 1.15 and Horovod", table()), ("PyTorch 2.13", apis()))
_OWN_PAGE = 8
"""A module with fewer APIs stands on the page of the package above it, so that no page holds two lines."""
_SPLIT = ("tensorflow.contrib", "tensorflow.python", "torch.distributed", "torch.nn", "torch.utils")
"""Packages of several hundred APIs, whose modules have pages of their own."""
_OTHER_SPELLINGS = ("tensorflow.python.", "tensorflow.compat.", "torch_npu.")
"""Beginnings of names that nearly every API has as well; pages leave them out, `tf2npu api` takes them."""


def pages() -> dict[str, str]:
    """Markdown by path on the site: the list of modules, and a page for each."""
    return {
        f"{FOLDER}index.md": _index(),
        **{
            f"{FOLDER}{names.shown(module)}.md": _page(names, module, found)
            for _, names in TABLES
            for module, found in by_module(names).items()
        },
    }


def by_module(names: ApiTable) -> dict[str, list[Api]]:
    """The APIs of each page, by the qualified name of a module; each API once, in the order of the alphabet."""
    counts = Counter(_module(api.name) for api in names)
    found: dict[str, list[Api]] = defaultdict(list)
    for api in sorted(names, key=lambda api: api.name):
        module = _module(api.name)
        found[module if counts[module] >= _OWN_PAGE else module.partition(".")[0]].append(api)
    return dict(sorted(found.items()))


def _module(name: str) -> str:
    """The module on whose page an API stands; classes and their members stand on that of their module."""
    parts = name.split(".")
    deep = 3 if ".".join(parts[:2]) in _SPLIT else 2
    module = parts[:deep] if len(parts) > deep else parts[: deep - 1]
    return ".".join(module[:-1] if len(module) > 1 and module[0] == "torch" and module[-1][:1].isupper() else module)


def _index() -> str:
    lines = [
        "# APIs",
        "",
        "What becomes of each API on an NPU. `tf2npu api NAME` prints the same for one name, by any spelling.",
        "[What the verdicts mean, and where they come from](../api_support.md).",
    ]
    for title, names in TABLES:
        chips = f" Verdicts are those for {names.judged_for}; the pages have each chip's support." if names.judged_for else ""
        lines += ["", f"## {title}", "", *([chips.strip(), ""] if chips else [])]
        lines += ["| module | " + " | ".join(verdict.value for verdict in Verdict) + " |", "|---|" + "---:|" * len(Verdict)]
        lines += [_module_row(names.shown(module), found) for module, found in by_module(names).items()]
    return "\n".join(lines) + "\n"


def _module_row(module: str, found: list[Api]) -> str:
    counts = Counter(api.verdict for api in found)
    return f"| [`{module}`]({module}.md) | " + " | ".join(str(counts[v] or "") for v in Verdict) + " |"


def _page(names: ApiTable, module: str, found: list[Api]) -> str:
    chips = tuple(dict.fromkeys(chip.chip for api in found for chip in api.chips))
    columns = ("API", "verdict", *(chips or ("rule",)), "what to know")
    lines = [
        f"# {names.shown(module)}",
        "",
        "[All modules](index.md); [what the verdicts mean](../api_support.md#verdicts).",
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    return "\n".join([*lines, *(_row(names, api, chips) for api in found)]) + "\n"


def _row(names: ApiTable, api: Api, chips: Sequence[str]) -> str:
    rule = f"[{api.rule}](../generated/rules.md#{api.rule.lower()})" if api.rule else ""
    words = {chip.chip: chip.word for chip in api.chips}
    absent = names.not_simulated(api.name) is not None and api.verdict is not Verdict.UNSUPPORTED
    notes = [
        f"write `{api.write}`" if api.write else "",
        _escaped(api.note),
        "A simulated run does not have it." if absent else "",
    ]
    aliases = ", ".join(f"`{names.shown(alias)}`" for alias in api.aliases if not alias.startswith(_OTHER_SPELLINGS))
    also = f"<br>also {aliases}" if aliases else ""
    middle = [words.get(chip, "") for chip in chips] or [rule]
    return f"| {' | '.join([f'`{names.shown(api.name)}`{also}', api.verdict.value, *middle, '; '.join(filter(None, notes))])} |"


def _escaped(text: str) -> str:
    """Text in which Markdown sees no table, emphasis, link or tag."""
    entities = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return re.sub(r"[*_\[`]", r"\\\g<0>", entities)
