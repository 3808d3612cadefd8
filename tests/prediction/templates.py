"""Finds every text that predictions and profiles say, as templates with {} for each value.

By calls: `t("...")` in the modules, pages and scripts of tf2npu/prediction; and the notes of tf2npu/profiles and of
npu_runtime/prediction.

    python -m tests.prediction.templates            prints the lines that are missing in the Chinese catalogue
    python -m tests.prediction.templates --write    adds them to it, with empty texts to be filled in
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

from tf2npu.prediction.as_text import LIMIT_NAMES, SHARE_NAMES
from tf2npu.prediction.page import SCRIPT_TEXTS

PACKAGE = Path(__file__).parents[2] / "tf2npu"
CATALOGUE = PACKAGE / "prediction" / "locale" / "zh.json"
_CALL = re.compile(r'\b(?:t|self)\(\s*"((?:[^"\\]|\\.)*)"')


def templates() -> set[str]:
    """Every template."""
    files = [*(PACKAGE / "prediction").glob("*.py"), *(PACKAGE / "prediction" / "htmlfiles").glob("*.html")]
    called = {found for file in files for found in _CALL.findall(file.read_text(encoding="utf-8"))}
    return called | set(SHARE_NAMES.values()) | set(LIMIT_NAMES.values()) | set(SCRIPT_TEXTS) | notes()


def notes() -> set[str]:
    """Notes of the reader of profiles and of the device's prediction: the sentences in lists and calls of append."""
    runtime = PACKAGE.parent / "npu_runtime"
    predicted = (runtime / "observers" / "prediction" / name for name in ("step_document.py", "scaling.py"))
    of_pytorch = (runtime / "simulation" / "eager_step_document.py", PACKAGE / "prediction" / "further_batches.py")
    files = (PACKAGE / "profiles" / "reader.py", *predicted, *of_pytorch)
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    said = [argument for node in nodes if isinstance(node, ast.Call) and _is_append(node) for argument in node.args]
    said += [element for node in nodes if isinstance(node, ast.List) for element in node.elts]
    return {text for argument in said if (text := _template(argument)) and text.endswith(".")}


def _is_append(call: ast.Call) -> bool:
    return getattr(call.func, "attr", "") == "append" or getattr(call.func, "id", "") == "_note"


def script_calls() -> set[str]:
    """The templates that the script of the page asks for."""
    return set(_CALL.findall((PACKAGE / "prediction" / "htmlfiles" / "prediction.js").read_text(encoding="utf-8")))


def _template(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def main() -> None:
    known = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    missing = sorted(text for text in templates() if not known.get(text))
    if "--write" in sys.argv[1:]:
        texts = dict(sorted({**dict.fromkeys(missing, ""), **{k: v for k, v in known.items() if v}}.items()))
        CATALOGUE.write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print("".join(f"{json.dumps(text, ensure_ascii=False)}\n" for text in missing), end="")


if __name__ == "__main__":
    main()
