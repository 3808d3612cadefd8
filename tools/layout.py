"""Counts what makes a house hard to walk through, and fails where a figure has grown:   python -m tools.layout [--write]

Figures stand in tools/layout.toml and may only fall; --write notes those that have. Limits: 25 modules a folder, because a
longer list no longer fits on a screen with the first lines of the modules; depth 4 below a package, where paths still fit into
messages.
"""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp

from npu_formats.toml_document import tomllib

ROOT = Path(__file__).parents[1]
FIGURES = Path(__file__).with_name("layout.toml")
PACKAGES = ("tf2npu", "npu_runtime", "npu_formats")
SHIMS = ("tf2npu/adapters", "tf2npu/npu_bridge", "tf2npu/npu_device", "tf2npu/hccl")
"""Their paths are the vendor's, so that nothing here judges them."""
MOST_MODULES, MOST_FOLDERS_DEEP = 25, 4
SAID_BY_THE_FOLDER = re.compile(r"_(command|options?|section|page)$")
"""Endings that repeat what a folder of their own says."""


def main(arguments: list[str]) -> int:
    before = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    found = findings(ROOT, before["two_things_of_one_name"])
    grown = {name: rows for name, rows in found.items() if len(rows) > before.get(name, 0)}
    for name, rows in found.items():
        print(f"{name}: {len(rows)} (at most {before.get(name, 0)})")
    for name, rows in grown.items():
        print(f"\n{name} has grown; these are all, of which {len(rows) - before.get(name, 0)} may not be there:")
        print("\n".join(f"  {row}" for row in rows))
    if "--write" in arguments and not grown:
        head, _, rest = FIGURES.read_text(encoding="utf-8").partition("\n\n")
        figures = "".join(f"{name} = {len(rows)}\n" for name, rows in found.items())
        FIGURES.write_text("\n".join((head, "", figures, rest.partition("\n\n")[2])), encoding="utf-8")
    return int(bool(grown))


def findings(root: Path, reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """The rows behind each figure, in the order of their names.  reasons: for classes of one name that are two things."""
    modules = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py")) if not _is_shim(path, root)]
    trees = {path.relative_to(root): ast.parse(path.read_bytes()) for path in modules}
    twins = _twin_classes(trees)
    return {
        "folders_over_25_modules": list(_full_folders(trees)),
        "folders_too_deep": sorted({str(p.parent) for p in trees if len(p.parent.parts) - 1 > MOST_FOLDERS_DEEP}),
        "names_that_repeat_the_folder": [str(path) for path in trees if SAID_BY_THE_FOLDER.search(path.stem)],
        "classes_declared_in_two_packages": [row for name, row in twins.items() if name not in reasons],
        "reasons_that_nothing_needs": sorted(set(reasons) - set(twins)),
        "modules_imported_by_text": list(_imports_by_text(trees)),
        "import_circles": _first_circle(),
    }


def _is_shim(path: Path, root: Path) -> bool:
    return str(path.relative_to(root)).startswith(SHIMS)


def _full_folders(trees: dict[Path, ast.Module]) -> Iterator[str]:
    counts: dict[Path, int] = defaultdict(int)
    for path in trees:
        counts[path.parent] += path.name != "__init__.py"
    return (f"{folder}: {count} modules" for folder, count in counts.items() if count > MOST_MODULES)


def _twin_classes(trees: dict[Path, ast.Module]) -> dict[str, str]:
    """Public classes of one name in two packages, which may be one thing that is written twice."""
    places: dict[str, list[Path]] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    return {
        name: f"{name}: {', '.join(map(str, paths))}"
        for name, paths in sorted(places.items())
        if len({path.parts[0] for path in paths}) > 1
    }


def _imports_by_text(trees: dict[Path, ast.Module]) -> Iterator[str]:
    """Modules of ours that import_module loads by a literal, which import-linter does not see."""
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
                name = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
                if isinstance(name, str) and name.partition(".")[0] in PACKAGES:
                    yield f"{path}:{node.lineno} {name}"


def _first_circle() -> list[str]:
    """The modules of the first circle of imports, those inside functions included; empty where there is none."""
    imports = grimp.build_graph(*PACKAGES)
    try:
        graphlib.TopologicalSorter({name: imports.find_modules_directly_imported_by(name) for name in imports.modules}).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
