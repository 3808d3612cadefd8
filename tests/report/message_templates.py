"""Finds every text of the converter that a user may read, as templates with {} for what is put in when it runs.

By the syntax tree: all string literals of the modules that say something, but for documentation, examples, names and code.

    python -m tests.report.message_templates            prints the lines that are missing in the Chinese catalogue
    python -m tests.report.message_templates --write    adds them to it, with empty texts to be filled in
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from npu_formats.pytorch.limit_facts import TEXTS, rows_of
from tf2npu.file_findings import FILE_FINDINGS
from tf2npu.frameworks.mindspore.names import changed
from tf2npu.frameworks.registry import known
from tf2npu.report.languages.language import Catalogue, texts_of_template
from tf2npu.rules import rule_parts

PACKAGE = Path(__file__).parents[2] / "tf2npu"
CATALOGUE = PACKAGE / "report" / "locale" / "zh.json"
RULES = tuple(sorted((PACKAGE / "rules").rglob("*.py")))
_SCANNER = (
    "text/source", "tree", "notebooks/cells", "notebooks/json_source", "python2/constructs", "text/pragmas", "text/edits",
    "text/output_check",
)  # fmt: skip
FINDINGS = (
    *RULES, *sorted((PACKAGE / "engine").glob("*.py")), PACKAGE / "file_findings.py",
    PACKAGE / "frameworks" / "pytorch" / "launch_settings.py",
    PACKAGE / "frameworks" / "tensorflow1" / "native_keras" / "messages.py",
    PACKAGE / "runs" / "limit_findings.py",
    *sorted((PACKAGE / "python2").rglob("*.py")),
    *(PACKAGE / "scanner" / f"{n}.py" for n in _SCANNER),
    *(PACKAGE / "project" / f"{n}.py" for n in ("output", "in_place", "conversion", "request", "walk", "excludes", "workers")),
    *(PACKAGE / "decisions" / f"{n}.py" for n in ("code", "comments", "revision", "settlement", "unsafe_fixes")),
)  # fmt: skip
_IN_ROOMS = {
    "formats": ("as_annotations", "as_markdown", "as_text", "as_xlsx", "render_context", "rule_list", "terminal"),
    "html": (
        "as_html",
        "code_table",
        "decision_cards",
        "evidence_note",
        "legend",
        "list_pages",
        "listing",
        "one_file",
        "one_rule",
        "one_run",
        "treemap",
    ),
    "model": ("apis", "counts", "file_parts", "report", "rule_facts"),
    "runs": ("check_texts", "evidence", "line_evidence", "run_texts", "seen_apis"),
    "work": (
        "breakdown",
        "choices",
        "coverage",
        "decisions",
        "entry_scripts",
        "next_steps",
        "overview",
        "smoke_runs",
        "summary",
        "verdict",
    ),
}
_COMPARED = ("comparison", "sentences", "as_text", "as_markdown")
REPORT = (
    *(PACKAGE / "report" / room / f"{name}.py" for room, names in _IN_ROOMS.items() for name in names),
    *(PACKAGE / "report" / "compared" / f"{name}.py" for name in _COMPARED),
    *sorted((PACKAGE / "report" / "html" / "sections").glob("*.py")),
    *sorted((PACKAGE / "report" / "html" / "pages").glob("*.py")),
    *sorted((PACKAGE / "report" / "html" / "run_sections").glob("*.py")),
)
_RUNTIME = PACKAGE.parent / "npu_runtime"
_LISTS = PACKAGE.parent / "npu_formats" / "pytorch"
_PLACES_NODES = (
    "reason_for_host",
    "_wish_for_host",
    "_refuse_dtype",
    "_spread_over_handles",
    "_spread_to_reads",
    "_spread_over_groups",
)
_TOLD_BY_RUNS = {
    "analysis/host_only_ops.py": (), "passes/place/placement.py": _PLACES_NODES,
    "analysis/precision_policy.py": ("load_policy", "_is_there"),
    "trace/run_log.py": ("_CUT", "_precision_lines", "_reshaped_lines", "_origin_line"),
    "observers/tuning/programs/session_tuner.py": ("_lines", "_kernel_lines"),
    "observers/tuning/programs/tuning_request.py": ("read", "_narrowing", "_searches", "_workers"),
}  # fmt: skip
"""Modules of the runtime that say what the page of a run shows, and the functions and constants that do; none: all of them."""
_TOLD_OF_OPERATORS = {
    "call_limits.py": ("_of_operator", "_without_bfloat16", "_of_types", "_of_shape", "_limit", "WHAT_TO_DO"),
    "chip_column.py": ("remark",), "limit_facts.py": ("text",),
}  # fmt: skip
"""The same of the lists of PyTorch's operators."""
PAGES = tuple(sorted((PACKAGE / "report" / "htmlfiles").rglob("*.html")))
# Calls whose texts nobody reads in a report: examples, patterns, look-ups, defects of the program itself.
_NOT_SAID = {
    "Example", "same", "compile", "startswith", "endswith", "removeprefix", "removesuffix", "split", "partition", "rpartition",
    "getattr", "isinstance", "join", "frozenset", "match", "search", "sub", "replace", "log", "warning", "RuntimeError",
    "TypeError", "ValueError", "setdefault",
}  # fmt: skip
_NOT_SAID_KEYWORDS = {"source", "examples", "matches", "id", "on", "names"}
_DATA = {"tensorflow2_names.py"}  # lists of names, in which a text is one that ends as a sentence does
_WORDS = re.compile(r"[A-Za-z][a-z]+[ ,:.]+[A-Za-z(`]|^[A-Z][a-z]+\.?$|^[a-z]+ing\b")
_CODE = re.compile(
    r"^(?:(?:\{\})?tf2npu|python|export|jupyter) |^# "
    r"|^(<\w+>)*<\w+ class=|^[\w.]+\(.*\)$|^[\w.]+ ?= ?\S+$|^(from|import) [\w.]+( import .*)?$"
    r"|^[\w.{}]+$"
)


def templates(paths: tuple[Path, ...] = FINDINGS) -> dict[str, str]:
    """Template -> the place where it stands first."""
    found: dict[str, str] = {}
    for path in paths:
        for text, line in _texts(ast.parse(path.read_text(encoding="utf-8"))):
            if path.name not in _DATA or text.endswith(".") or "{}" in text:
                found.setdefault(text, f"{path.name}:{line}")
    return found


def run_templates() -> dict[str, str]:
    """The same of what the runtime says of a run: why nodes stay on the host, and its lines on precision and tuning."""
    found: dict[str, str] = {}
    for room, told in ((_RUNTIME, _TOLD_BY_RUNS), (_LISTS, _TOLD_OF_OPERATORS)):
        for name, told_by in told.items():
            _collect(found, room / name, lambda one, told_by=told_by: not told_by or bool({*_names_of(one)} & {*told_by}))
    for path in sorted((_RUNTIME / "kernels").rglob("*.py")):
        _collect(found, path, _is_refusal)
    return found


def _collect(found: dict[str, str], path: Path, is_wanted: Callable[[ast.AST], bool]) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for statement in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Assign) and is_wanted(node)):
        for text, line in _texts(statement):
            found.setdefault(text, f"{path.relative_to(PACKAGE.parent).as_posix()}:{line}")


def _names_of(statement: ast.AST) -> list[str]:
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    return [ast.unparse(target) for target in getattr(statement, "targets", ())]


def _is_refusal(statement: ast.AST) -> bool:
    """Whether a kernel's function says why the device does not take a node."""
    is_function = isinstance(statement, ast.FunctionDef) and statement.returns is not None
    return is_function and ast.unparse(statement.returns) == "str | None"


def _texts(node: ast.AST) -> Iterator[tuple[str, int]]:
    text = _template(node)
    if text is not None:
        if _is_said(text):
            yield text, getattr(node, "lineno", 0)
        if isinstance(node, ast.JoinedStr):
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    yield from _texts(value.value)
        return
    if isinstance(node, ast.Call) and _name(node.func) in _NOT_SAID:
        return
    if isinstance(node, ast.FunctionDef) and node.name.endswith("_code"):
        return  # gives code, not a sentence
    for child in _said_children(node):
        yield from _texts(child)


def _said_children(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        is_documentation = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        is_data = isinstance(child, ast.keyword) and child.arg in _NOT_SAID_KEYWORDS
        is_data = is_data or (isinstance(child, ast.Assign) and any("SOURCE" in ast.unparse(t) for t in child.targets))
        is_checked = isinstance(node, ast.Compare | ast.Subscript | ast.Dict) and child in _looked_up(node)
        if not (is_documentation or is_data or is_checked):
            yield child


def _looked_up(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Subscript):
        return [node.slice]
    return [key for key in node.keys if key is not None] if isinstance(node, ast.Dict) else []


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    return None


def written_in(node: ast.expr) -> list[str]:
    """The texts that an argument may be; nothing for one that is made elsewhere."""
    if isinstance(node, ast.IfExp):
        return [*written_in(node.body), *written_in(node.orelse)]
    if isinstance(node, ast.BinOp):
        return [first + second for first in written_in(node.left) or ["{}"] for second in written_in(node.right) or ["{}"]]
    text = _template(node)
    return [] if text is None else [text]


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _is_said(text: str) -> bool:
    if "\n" in text or "</" in text or "-src " in text or _CODE.match(text):
        return False
    return bool(_WORDS.search(text)) and " " in text.strip()


def facts() -> list[str]:
    """Texts of rules, file notes and adapters about themselves."""
    adapters = [framework.adapter.message for framework in known() if framework.adapter is not None]
    found = adapters + [text for rule in rule_parts() for text in (rule.title, rule.what, rule.why, rule.done_when) if text]
    found += [re.sub(r"\{\w+\}", "{}", text) for text in TEXTS.values()]  # named by what stands there
    found += [row["instead"] for row in rows_of("known_fallbacks.csv") if row["instead"]]
    found += [re.sub("^the NPU has no .*?: ", "", row["advice"]) for row in rows_of("cuda_names.csv") if row["advice"]]
    found += [row.instead for kind in ("name", "module", "context", "parallel") for row in changed(kind).values()]
    return found + [text for note in FILE_FINDINGS for text in (note.title, note.why, note.done_when) if text]


def page_texts() -> list[str]:
    """Texts on the pages of the HTML report."""
    return [text for page in PAGES for text in texts_of_template(page.read_text(encoding="utf-8"))]


def missing_texts() -> dict[str, str]:
    """Each English text that has none in Chinese, and the place where it stands."""
    written = read()
    said = {**templates((*FINDINGS, *REPORT)), **run_templates()}
    found = {text: place for text, place in said.items() if not written.get(text)}
    texts = Catalogue(written)
    for text in (*facts(), *page_texts()):
        if not texts.has(text):
            found.setdefault(text, "what a rule or a page says about itself")
    return found


def read() -> dict[str, str]:
    """The Chinese text for each English one."""
    return dict(json.loads(CATALOGUE.read_text(encoding="utf-8")))


def with_empty_lines(catalogue: dict[str, str], missing: Iterable[str]) -> str:
    """The catalogue with an empty text for each one that is missing, and no other empty ones, sorted."""
    written = {english: text for english, text in catalogue.items() if text}
    texts = dict(sorted({**dict.fromkeys(missing, ""), **written}.items()))
    return json.dumps(texts, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    missing = missing_texts()
    if "--write" in sys.argv[1:]:
        CATALOGUE.write_text(with_empty_lines(read(), missing), encoding="utf-8")
    print("".join(f' {json.dumps(text, ensure_ascii=False)}: "",   {place}\n' for text, place in missing.items()), end="")


if __name__ == "__main__":
    main()
