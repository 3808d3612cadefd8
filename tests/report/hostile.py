"""report.json in which every text that is free is hostile: names, sources, messages, APIs, answers, runs, checks, entries."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from tests.report.test_damaged_json import document

FIXED = {
    "schema_version", "level", "status", "verdict", "choice", "command", "kind", "starts", "ran_on", "cause",
}  # fmt: skip
"""Keys whose values are words of the format."""
OWNED = "document.title='owned'"
MARKUP = (
    f"<script>{OWNED}</script>", f"</script><script>{OWNED}</script>", f"</pre></td></table><img src=x onerror={OWNED}>",
    f"\"'><svg onload={OWNED}>", f"</textarea></title></style><iframe srcdoc=\"<script>{OWNED}</script>\">", "--><!--", "]]>",
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "{{ 7*7 }}{% raw %}", "`${alert(1)}`",
    "\\\"\\';alert(1)//",
)  # fmt: skip
CHARACTERS = "\u2028\u2029\u202egnp.\u202c\u2066\u200f\u200b\x00\x1b[31m\x07\r\n\t\ud800 \udcff\ufeff\ufffe\U000e0041"
HOSTILE = CHARACTERS.join(MARKUP)
IN_PATHS = HOSTILE.replace("/", "\u2215").replace("\x00", "").replace("..", ".")
"""The same without what no path below SRC can hold."""


def hostile_document(change: Callable[[str], str] = lambda text: text + HOSTILE) -> dict[str, Any]:
    """A whole report, with runs, a check, answers, known findings, a notebook and a history, whose texts are changed.

    change: of any text but those of one file more, whose rules are known; paths get it without what a path cannot hold.
    """
    made = copy.deepcopy(document())
    made["entries"] = [{"path": file["path"], "starts": "guard", "trains": True} for file in made["files"][:3]]
    made["history"] = [{"decisions": n, "findings": n, "places": n, "minutes": n} for n in (9, 4)]
    for file in made["files"]:
        if "source" in file:
            file["source"] += "# "
        for finding in file["findings"][2:4]:
            answer = {"decision": "d", "choice": "accept", "level": "manual", "who": "w", "note": "n"}
            finding.update(level="info", answer=answer)
    made["summary"]["distributed"]["found"] = [{"kind": "horovod", "places": ["train.py:4"]}]
    known = copy.deepcopy(made["files"][0])
    known["path"] = "as/it/was.py"
    return {**(changed := _changed(made, change)), "files": [*changed["files"], known]}


def _changed(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    if isinstance(value, dict):
        words = FIXED | {"tool": {"name"}, "streams[]": {"name"}, "distributed": {"mode"}}.get(key, set())
        texts = {name: one if name in words else _changed(one, change, name) for name, one in value.items()}
        is_map = key == "device_types" or (key == "files" and all(isinstance(one, str) for one in texts.values()))
        return {_path(name, change): one for name, one in texts.items()} if is_map else texts
    if isinstance(value, list):
        return [_changed(one, change, f"{key}[]") for one in value]
    if not isinstance(value, str):
        return value
    return _path(value, change) if key in ("path", "changed_files[]", "imports[]") else change(value)


def _path(text: str, change: Callable[[str], str]) -> str:
    return change(text).replace(HOSTILE, IN_PATHS)


def hostile_json(change: Callable[[str], str] = lambda text: text + HOSTILE) -> str:
    return json.dumps(hostile_document(change))
