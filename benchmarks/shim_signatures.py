"""The shim's signatures beside those of a release of the vendor's adapter, which is read by its syntax tree and never run.

    python -m benchmarks.shim_signatures DIR [--all]

DIR is a checkout or a (bare) git directory of https://gitee.com/ascend/tensorflow (Apache License 2.0); of a git directory its
HEAD is read. Every public function, class and method below tf_adapter/python/npu_bridge is compared by parameter names, their
order and defaults. A call that works there has to work here: more parameters at the end are no difference to it.
Exit codes: 0 all is there, 1 something is missing or takes other arguments, 77 no DIR, or it holds no release.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.acceptance.checkouts import Absent, Repository, bring

ABSENT = 77
RELEASE = Repository("release", "release", "https://gitee.com/ascend/tensorflow")
PACKAGE = Path("tf_adapter/python/npu_bridge")
# Scripts that the release ships inside the package, and its test of the package's own surface.
NO_PART_OF_IT = {"mnist_softmax_npu.py", "mnist_with_estimator.py", "test.py"}
NONE_GIVEN = "(none)"
# Where the release and its successors contradict each other; the shim follows the later one, and these are what it changed.
LATER = {
    "npu_config.NPURunConfig": "options in another order, auto_tune_mode and mstune_mode gone: the shim takes them by keyword",
    "npu_config.DynamicInputConfig": "compile_hybrid_mode came in, without a default",
    "npu_plugin.npu_resource_init": "auto_tune_mode and mstune_mode gone from the middle: the shim takes them by keyword",
    "npu_hook.broadcast_global_variables": "index is gone",
    "npu_optimizer.reduce": "var is gone",
    "util.check_profiling_options": "the default is an empty tuple, was an empty list",
    "util.fair_division": "input is called inputs",
    "lru_cache.LruCache.cache_all_index_to_local": "ids is gone",
}

Parameters = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Declared:
    """A public symbol of the release. parameters: (name, default as text) in order, stars included; None for a constant."""

    module: str
    name: str
    parameters: Parameters


@dataclass(frozen=True)
class Verdict:
    """same, more (ours takes more at the end), later (see LATER), other (a call may fail), missing."""

    symbol: Declared
    kind: str
    detail: str = ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shim_signatures", description=__doc__.splitlines()[0])
    parser.add_argument("release", type=Path, nargs="?", metavar="DIR")
    parser.add_argument("--all", action="store_true", help="name every symbol, not only what differs")
    options = parser.parse_args(arguments)
    if options.release is None:
        print(f"absent: give DIR; the public repository is {RELEASE.where}")
        return ABSENT
    with tempfile.TemporaryDirectory() as scratch:
        try:
            brought = bring(RELEASE, options.release, Path(scratch))
        except Absent as absent:
            print(f"absent: {absent}")
            return ABSENT
        folder = brought.folder / PACKAGE
        if not folder.is_dir():
            print(f"absent: {options.release} has no {PACKAGE}")
            return ABSENT
        verdicts = [compared(symbol) for symbol in declared_below(folder)]
    return _told(verdicts, brought.version, options.all)


def _told(verdicts: list[Verdict], version: str, everything: bool) -> int:
    for verdict in verdicts:
        if everything or verdict.kind in ("later", "other", "missing"):
            print(f"{verdict.kind:8} {verdict.symbol.module}.{verdict.symbol.name} {verdict.detail}".rstrip())
    counts = {kind: sum(v.kind == kind for v in verdicts) for kind in ("same", "more", "later", "other", "missing")}
    print(
        f"release {version}: {len(verdicts)} public functions, classes and methods; {counts['same']} equal, {counts['more']} "
        f"with more parameters here, {counts['later']} that a later release changed, {counts['other']} that take other "
        f"arguments, {counts['missing']} missing"
    )
    return 1 if counts["other"] or counts["missing"] or not verdicts else 0


def declared_below(folder: Path) -> Iterator[Declared]:
    """The public symbols of every module of a package folder, in order of their paths."""
    for path in sorted(folder.rglob("*.py")):
        if path.name not in NO_PART_OF_IT:
            parts = ["npu_bridge", *path.relative_to(folder).with_suffix("").parts]
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield from declared_in(ast.parse(path.read_text(encoding="utf-8")), module)


def declared_in(tree: ast.Module, module: str) -> Iterator[Declared]:
    """The public functions, classes (by __init__ or __new__) and methods of one module; gradients are not called by name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not _is_registered(node):
            yield Declared(module, node.name, _parameters(node.args))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _of_class(node, module)


def _of_class(node: ast.ClassDef, module: str) -> Iterator[Declared]:
    for method in node.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        if method.name in ("__init__", "__new__"):
            yield Declared(module, node.name, _parameters(method.args)[1:])
        elif not method.name.startswith("_"):
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
            yield Declared(module, f"{node.name}.{method.name}", _parameters(method.args)[0 if static else 1 :])


def _is_registered(node: ast.FunctionDef) -> bool:
    return any("RegisterGradient" in ast.unparse(decorator) for decorator in node.decorator_list)


def _parameters(args: ast.arguments) -> Parameters:
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    found = [(a.arg, _text(d)) for a, d in zip(positional, defaults, strict=True)]
    found += [(f"*{args.vararg.arg}", NONE_GIVEN)] if args.vararg else []
    found += [(a.arg, _text(d)) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return tuple(found + ([(f"**{args.kwarg.arg}", NONE_GIVEN)] if args.kwarg else []))


def _text(default: ast.expr | None) -> str:
    if default is None:
        return NONE_GIVEN
    try:
        return repr(ast.literal_eval(default))
    except ValueError:
        return ast.unparse(default).rsplit(".", 1)[-1]


def compared(symbol: Declared) -> Verdict:
    """The verdict on the shim's symbol of the same path and name."""
    found = _ours(symbol)
    if found is None:
        return Verdict(symbol, "missing")
    if isinstance(found, property):
        return Verdict(symbol, "same")
    ours = parameters_of(found)
    if "." in symbol.name and ours[:1] == (("self", NONE_GIVEN),):
        ours = ours[1:]
    if ours == symbol.parameters:
        return Verdict(symbol, "same")
    problem = _why_a_call_may_fail(symbol.parameters, ours)
    if not problem:
        return Verdict(symbol, "more")
    later = LATER.get(f"{symbol.module.rpartition('.')[2]}.{symbol.name}")
    return Verdict(symbol, "later", later) if later else Verdict(symbol, "other", problem)


def _ours(symbol: Declared) -> Any:
    try:
        found: Any = importlib.import_module(symbol.module)
        for part in symbol.name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """(name, default) of a live function or class in order, the receiver of a method left in."""
    parameters = inspect.signature(function).parameters.values()
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    defaults = [NONE_GIVEN if p.default is p.empty else _default(p.default) for p in parameters]
    return tuple((stars.get(p.kind, "") + p.name, default) for p, default in zip(parameters, defaults, strict=True))


def _default(value: Any) -> str:
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    return name if name and not isinstance(value, str | int | float) else repr(value)


def _why_a_call_may_fail(theirs: Parameters, ours: Parameters) -> str:
    """The first difference by which a call with their arguments, by position or by keyword, would bind otherwise to our
    parameters."""
    names = [name for name, _ in ours]
    takes_all = any(n.startswith("*") and n[1] != "*" for n in names) and any(n.startswith("**") for n in names)
    for position, (name, _) in enumerate(theirs):
        if not name.startswith("*") and names[position : position + 1] != [name] and not takes_all:
            here = names[position] if position < len(names) else "nothing"
            return f"parameter {position + 1} is {name} there, {here} here"
    defaults = dict(ours)
    needed = [n for n, d in ours[len(theirs) :] if d == NONE_GIVEN and not n.startswith("*")]
    needed += [n for n, d in theirs if d != NONE_GIVEN and defaults.get(n) == NONE_GIVEN]
    if needed:
        return f"{', '.join(needed)} must be given here"
    changed = [f"{n}={d} there, {defaults[n]} here" for n, d in theirs if defaults.get(n, d) != d and not _is_a_name(d)]
    return "; ".join(changed)


def _is_a_name(default: str) -> bool:
    """Whether a default is a constant's name, whose value the syntax tree does not hold."""
    return default.isidentifier() and default not in ("None", "True", "False", NONE_GIVEN)


if __name__ == "__main__":
    sys.exit(main())
