"""Names and modules of Pillow, scipy, scikit-learn and TensorBoard that moved since 2019."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from npu_bridge._log import once
from npu_bridge._old_libraries import names
from npu_bridge._tf1.journal import Journal

# Old module : the one whose names it gets. Source: release notes of scikit-learn 0.18 to 0.24 and scipy 1.8.
MOVED = {
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.datasets.samples_generator": "sklearn.datasets",
    "sklearn.ensemble.forest": "sklearn.ensemble._forest",
    "sklearn.externals.joblib": "joblib",
    "sklearn.grid_search": "sklearn.model_selection",
    "sklearn.metrics.classification": "sklearn.metrics",
    "sklearn.metrics.ranking": "sklearn.metrics",
    "sklearn.preprocessing.data": "sklearn.preprocessing",
    "sklearn.utils.linear_assignment_": "scipy.optimize",
}
# What `tensorboard.summary` had beside the functions of TensorFlow 2. Source: tensorboard/summary/v1.py, whose names these are.
_BOARD = (
    "audio_pb", "custom_scalar", "custom_scalar_pb", "histogram_pb", "image_pb", "pr_curve", "pr_curve_pb",
    "pr_curve_raw_data_op", "pr_curve_raw_data_pb", "pr_curve_streaming_op", "scalar_pb", "text_pb",
)  # fmt: skip


class MovedModules:
    """A meta path finder for old module paths, asked only when nothing else has found them."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The module at an old path, with the names of the new one."""
        return ModuleSpec(name, _Copy(MOVED[name])) if name in MOVED else None


class _Copy:
    """A loader that fills a module with another's names."""

    def __init__(self, new: str) -> None:
        self._new = new

    def create_module(self, spec: ModuleSpec) -> None:
        """A new module is as Python makes it."""

    def exec_module(self, module: ModuleType) -> None:
        source = import_module(self._new)
        vars(module).update({name: value for name, value in vars(source).items() if not name.startswith("__")})
        if module.__name__ == "sklearn.utils.linear_assignment_":
            module.linear_assignment = _linear_assignment
        once(f"{module.__name__} is gone since this script was written; here it works, today write {self._new}")


def _linear_assignment(X: Any) -> Any:
    """The (row, column) pairs of a cost matrix's cheapest assignment, as an array (n, 2)."""
    import numpy

    return numpy.array(import_module("scipy.optimize").linear_sum_assignment(X)).T


def find_old_paths(journal: Journal) -> None:
    """Install the finder behind all others and forget its modules when it is taken back."""
    finder = MovedModules()
    sys.meta_path.append(finder)

    def remove() -> None:
        sys.meta_path.remove(finder)
        for name in MOVED:
            if isinstance(getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None), _Copy):
                del sys.modules[name]

    journal.on_undo(remove)


def _renamed(old: Mapping[str, tuple[str, str]]) -> Callable[[Journal, ModuleType], None]:
    """A change that brings names back; old: name -> module and name today."""

    def change(journal: Journal, module: ModuleType) -> None:
        found = {
            name: (f"{place}.{new}", lambda place=place, new=new: getattr(import_module(place), new))
            for name, (place, new) in old.items()
            if name not in vars(module)
        }
        names.offer(journal, module, found)

    return change


def _as_package(journal: Journal, module: ModuleType) -> None:
    """Let a module have modules below it, as it had when it was a folder."""
    journal.set(vars(module), "__path__", [])


CHANGES = {
    "PIL.Image": _renamed({
        "ANTIALIAS": ("PIL.Image", "LANCZOS"),
        "CUBIC": ("PIL.Image", "BICUBIC"),
        "LINEAR": ("PIL.Image", "BILINEAR"),
    }),
    "scipy": _renamed({"interp": ("numpy", "interp")}),
    "scipy.integrate": _renamed({
        "simps": ("scipy.integrate", "simpson"),
        "trapz": ("scipy.integrate", "trapezoid"),
        "cumtrapz": ("scipy.integrate", "cumulative_trapezoid"),
    }),
    "scipy.interpolate": _renamed({"interp": ("numpy", "interp")}),
    "scipy.sparse.linalg.eigen": _as_package,
    "tensorboard.summary": _renamed({name: ("tensorboard.summary.v1", name) for name in _BOARD}),
}  # fmt: skip
"""Changes to run after an import, by module."""
