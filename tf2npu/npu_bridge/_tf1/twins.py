"""Gives TensorFlow's public v2 modules the names of their compat.v1 twins, in place.

In place, because code that ran earlier may hold the module objects (``from tensorflow import nn``), and because an
attribute swap on ``tensorflow`` alone is undone by the next ``from tensorflow.nn import dropout``: that import loads the
v2 file again and binds it to ``tf.nn``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from npu_bridge._tf1.journal import Journal

V1 = "tensorflow._api.v2.compat.v1"
KERAS_V1 = "keras.api._v1.keras"
KERAS_V2 = "keras.api._v2.keras"
ESTIMATOR_V1 = "tensorflow_estimator.python.estimator.api._v1.estimator"
ESTIMATOR_V2 = "tensorflow_estimator.python.estimator.api._v2.estimator"
# Public path -> module that holds the v1 names, where TensorFlow 2.15 fills a namespace lazily from another package.
REDIRECTED = {
    "tensorflow.keras": KERAS_V1,
    "tensorflow.estimator": ESTIMATOR_V1,
    "tensorflow.layers": f"{KERAS_V1}.__internal__.legacy.layers",
    "tensorflow.nn.rnn_cell": f"{KERAS_V1}.__internal__.legacy.rnn_cell",
}
V2_ROOTS = {"tensorflow._api.v2": "tensorflow", KERAS_V2: "tensorflow.keras", ESTIMATOR_V2: "tensorflow.estimator"}
# `tf.compat` means the same in both versions; the others are TensorFlow's own source, not its API.
KEPT = frozenset({"compat", "python", "core", "compiler", "tools", "tsl"})


def names_of(module: ModuleType) -> dict[str, Any]:
    """The module's own dictionary, looking through TensorFlow's deprecation wrapper."""
    return vars(vars(module).get("_tfmw_wrapped_module", module))


def public(names: dict[str, Any]) -> dict[str, Any]:
    """The names without those that belong to the module's machinery."""
    return {name: value for name, value in list(names.items()) if not name.startswith("_")}


def _below(name: str, root: str) -> bool:
    return name == root or name.startswith(root + ".")


def public_twins() -> dict[str, ModuleType]:
    """Every public module path of TF1 below ``tensorflow`` with the one module that serves it."""
    for target in REDIRECTED.values():
        import_module(target)
    twins: dict[str, ModuleType] = {}
    for path, target in [("tensorflow", V1), *REDIRECTED.items()]:
        for name in sorted(sys.modules):
            if _below(name, target) and name != V1 and not _below(name, f"{V1}.compat"):
                twins[path + name[len(target) :]] = sys.modules[name]
    return {path: module for path, module in twins.items() if "__internal__" not in path}


def v2_modules() -> dict[str, ModuleType]:
    """The loaded modules of the v2 API, by name in ``sys.modules``."""
    return {
        name: module
        for name, module in sorted(sys.modules.items())
        if any(_below(name, root) for root in V2_ROOTS)
        and name != "tensorflow._api.v2"
        and not _below(name, "tensorflow._api.v2.compat")
    }


def old_modules() -> Iterator[tuple[str, ModuleType]]:
    """Module objects that other code may hold already under a v2 meaning, each with its public path."""
    for name, module in v2_modules().items():
        root = next(root for root in V2_ROOTS if _below(name, root))
        yield V2_ROOTS[root] + name[len(root) :], module
    for name, module in sorted(sys.modules.items()):
        if name.startswith("tensorflow.") and not _below(name, "tensorflow._api"):
            yield name, module
    for name, value in public(vars(sys.modules["tensorflow"])).items():
        if isinstance(value, ModuleType):
            yield f"tensorflow.{name}", value  # lazy loaders, and tf.summary, which is TensorBoard's


def is_source_package(path: str, module: ModuleType) -> bool:
    """Whether a public path such as ``tensorflow.distribute`` is really a folder of TensorFlow's own source."""
    folder = path.partition(".")[2].replace(".", "/")
    file = (getattr(module, "__file__", None) or "").replace("\\", "/")
    return module.__name__ == path and file.endswith(f"/tensorflow/{folder}/__init__.py")


def retarget(journal: Journal, module: ModuleType, twin: ModuleType) -> None:
    """Make ``module`` offer exactly the public names of ``twin``."""
    old, new = vars(module), public(names_of(twin))
    for name in public(old):
        if name not in new and name not in KEPT:
            journal.delete(old, name)
    for name, value in new.items():
        journal.set(old, name, value)
    if "__all__" in old:
        journal.set(old, "__all__", sorted(new))


def add_missing(journal: Journal, module: ModuleType, twin: ModuleType) -> None:
    """Give a source package the public names that it lacks, so that ``from tensorflow.distribute import X`` works."""
    for name, value in public(names_of(twin)).items():
        if name not in vars(module):
            journal.set(vars(module), name, value)


def swap(journal: Journal) -> None:
    """Give ``tensorflow`` and every public module below it TF1 meaning."""
    tensorflow = sys.modules["tensorflow"]
    twins = public_twins()
    for path, module in {id(m): (p, m) for p, m in old_modules()}.values():
        twin = twins.get(path)
        if twin is None or twin is module or vars(twin).get("_tfmw_wrapped_module") is module:
            continue
        if is_source_package(path, module):
            add_missing(journal, module, twin)
        else:
            retarget(journal, module, twin)
    compat = tensorflow.compat
    retarget(journal, tensorflow, sys.modules[V1])
    journal.set(vars(tensorflow), "compat", compat)
    # Loaded from its file once more, this module would lack `flags`, which TensorFlow adds to the loaded one only.
    journal.set(sys.modules, "tensorflow.compat.v1.app", sys.modules[f"{V1}.app"])
    for name in ("python", "core", "tools"):  # attributes in TF 1.15, deleted in 2.15
        journal.set(vars(tensorflow), name, import_module(f"tensorflow.{name}"))
    for path, twin in twins.items():
        _serve(journal, path, twin)


def _serve(journal: Journal, path: str, twin: ModuleType) -> None:
    """Let attribute access and import of ``path`` both reach ``twin``."""
    present = sys.modules.get(path)
    if present is None or not is_source_package(path, present):
        journal.set(sys.modules, path, twin)
    parent_path, _, name = path.rpartition(".")
    if parent_path == "tensorflow":
        journal.set(vars(sys.modules["tensorflow"]), name, twin)
    elif path in REDIRECTED:
        parent = sys.modules[parent_path]
        journal.set(names_of(parent), name, twin)
        journal.set(vars(parent), name, twin)
