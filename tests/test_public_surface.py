"""Names that users, plug-ins and converted scripts rely on: none of them goes, and a new one is put on the list.

`tests/fixtures/public_surface.txt` has a line for each command, option, rule, report field, name to import and shim module.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import tf2npu
from npu_formats.documents import prediction
from tf2npu import rules
from tf2npu.accuracy_check import document as check_document
from tf2npu.cli import cli
from tf2npu.report.model import document as report_document
from tf2npu.rules import all_rules, base, plugins

FIXTURE = Path(__file__).parent / "fixtures" / "public_surface.txt"
PACKAGE = Path(tf2npu.__file__).parent
RUNTIME = ("session", "config", "errors")


def surface() -> Iterator[str]:
    """One line for each thing that others name."""
    for name, command in cli.commands.items():
        words = (word for parameter in command.params for word in (*parameter.opts, *parameter.secondary_opts))
        yield f"command {name}"
        yield from (f"command {name} {word}" for word in words if isinstance(command, click.Command))
    yield from (f"rule {rule.id} {rule.title}" for rule in all_rules())
    yield from (f"tf2npu.{name}" for name in tf2npu.__all__)
    yield from (f"tf2npu.rules.{name}" for name in rules.__all__)
    yield f"tf2npu.rules.base.rule{inspect.signature(base.rule)}"
    yield f"tf2npu.rules.base.part_of{inspect.signature(base.part_of)}"
    yield f"entry point group {plugins.GROUP}"
    yield from shim_modules()
    yield from report_fields()
    yield from runtime_names()


def shim_modules() -> Iterator[str]:
    """Modules of the vendor's packages, those of ours left out: their names begin with an underscore."""
    for top in ("npu_bridge", "npu_device", "hccl"):
        for path in sorted((PACKAGE / top).rglob("*.py")):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            if not any(part.startswith("_") and part != "__init__" for part in parts):
                yield f"module {'.'.join(parts).removesuffix('.__init__')}"


def report_fields() -> Iterator[str]:
    """Fields of report.json, of a prediction and of check.json, by the class that holds them."""
    for file, module in (("report.json", report_document), ("prediction", prediction), ("check.json", check_document)):
        for name, kind in sorted(vars(module).items()):
            if inspect.isclass(kind) and kind.__module__ == module.__name__:
                yield from (f"{file} {name}.{field}" for field in getattr(kind, "__annotations__", ()))


def runtime_names() -> Iterator[str]:
    """Public classes and functions of the modules of the runtime that others import; read, as importing them takes TensorFlow."""
    for module in RUNTIME:
        path = PACKAGE.parent / "npu_runtime" / module
        tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8"))
        defined = [node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                defined += ast.literal_eval(node.value)  # of another module, and named by this one
        yield from (f"npu_runtime.{module}.{name}" for name in sorted(set(defined)) if not name.startswith("_"))


def test_nothing_that_others_name_has_gone(request: pytest.FixtureRequest) -> None:
    now = sorted(set(surface()))
    if request.config.getoption("--regen"):
        FIXTURE.write_text("\n".join(now) + "\n", encoding="utf-8")
    known = FIXTURE.read_text(encoding="utf-8").splitlines()
    gone, new = sorted(set(known) - set(now)), sorted(set(now) - set(known))
    assert not gone, "scripts, plug-ins or reports of users name these"
    assert not new, "new: run pytest tests/test_public_surface.py --regen"
