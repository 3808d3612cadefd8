"""Writes the public names of an installed PyTorch as a table:

    PYTHON tools/pytorch_inventory.py > tf2npu/frameworks/pytorch/names.csv

PYTHON is one that has the PyTorch to be listed: 2.13 for the table that ships. Columns: name, kind (module, class, function,
constant), other names of the object, bases of a class, and names of its own attributes. An object has the name that the vendor's
list gives it; else the one with the fewest parts, as `torch.nn.Linear` for `torch.nn.modules.linear.Linear`.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import pkgutil
import re
import sys
import types
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import torch

from npu_formats.pytorch.api_support import entries

_SKIPPED = re.compile(
    r"(^|\.)_|\.(benchmark|bottleneck|components|config|dataframe|examples|flight_recorder|hipify|model_dump|passes|testing|viz)\b"
    r"|^torch\.(ao|fx|onnx|quantization|utils\.tensorboard)\.|^torch\.(return_types|torch_version|csrc)\b"
)
"""Modules that are no interface for users, that write reports of their own, or whose public names the module above has."""
_CONSTANTS = (torch.dtype, torch.layout, torch.memory_format, bool, int, float, str)


def modules() -> Iterator[types.ModuleType]:
    """torch and its public modules, as far as they can be imported here."""
    yield torch
    for found in pkgutil.walk_packages(torch.__path__, "torch."):
        if not _SKIPPED.search(found.name):
            try:
                yield importlib.import_module(found.name)
            except Exception as error:
                print(f"left out {found.name}: {type(error).__name__}", file=sys.stderr)


def public_names(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Names of a module with their objects: those that it exports, else those that it defines; and constants of torch itself."""
    defined = {name for name, value in vars(module).items() if _is_of(module, value)}
    wanted = set(getattr(module, "__all__", ())) or defined
    if module is torch:
        wanted |= defined | {name for name, value in vars(module).items() if isinstance(value, _CONSTANTS)}
    for name in sorted(wanted):
        value = getattr(module, name, None)
        if not name.startswith("_") and value is not None and not isinstance(value, types.ModuleType):
            yield f"{module.__name__}.{name}", value


def _is_of(module: types.ModuleType, value: Any) -> bool:
    """Whether an object is defined in a module or in a part of it; functions of C++ do not tell where they are."""
    origin = getattr(value, "__module__", "") or ""
    if inspect.isroutine(value) and origin in ("", "torch", "torch._C", "torch._C._nn"):
        return True
    return callable(value) and f"{origin}.".startswith(f"{module.__name__}.")


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """The rows of the table, sorted by name."""
    found: dict[object, list[str]] = defaultdict(list)
    objects: dict[object, Any] = {}
    made = []
    for module in modules():
        if not _is_hidden(module):
            made.append((module.__name__, "module", "", "", ""))
        for name, value in public_names(module):
            key = id(value) if callable(value) else name
            found[key].append(name)
            objects[key] = value
    first = {key: min(names, key=_rank) for key, names in found.items()}
    for key, name in first.items():
        aliases = " ".join(sorted(set(found[key]) - {name}))
        made.append((name, _kind(objects[key]), aliases, *_of_class(objects[key], first)))
    yield from sorted(set(made))


def _is_hidden(module: types.ModuleType) -> bool:
    """Whether the package has something else of that name, as torch.nn.parallel has the function data_parallel."""
    package, _, last = module.__name__.rpartition(".")
    return bool(package) and getattr(sys.modules[package], last, module) is not module


def _rank(name: str) -> tuple[bool, int, int, str]:
    return name not in entries(), name.count("."), len(name), name


def _kind(value: Any) -> str:
    return "class" if inspect.isclass(value) else "function" if callable(value) else "constant"


def _of_class(value: Any, first: dict[object, str]) -> tuple[str, str]:
    """The public bases of a class, and its own attributes that are public."""
    if not inspect.isclass(value):
        return "", ""
    bases = " ".join(first[id(base)] for base in value.__mro__[1:] if id(base) in first)
    hidden = [base for base in value.__mro__ if base is value or (id(base) not in first and base.__module__.startswith("torch"))]
    return bases, " ".join(sorted({name for base in hidden for name in vars(base) if not name.startswith("_")}))


def main() -> None:
    warnings.simplefilter("ignore")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("name", "kind", "aliases", "bases", "members"))
    writer.writerows(rows())


if __name__ == "__main__":
    main()
