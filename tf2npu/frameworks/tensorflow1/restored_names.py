"""Names that other libraries dropped and that run all the same: npu_bridge has them back, and a host has the libraries of then.

A test looks each of them up in a process with npu_bridge, and each name that a rule reports and that is not here as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from tf2npu.frameworks.base import ParsedNodes
from tf2npu.scanner.input_roles import Target
from tf2npu.scanner.syntax import chain

_NUMPY = ("int", "float", "bool", "object", "str", "long", "unicode", "complex", "asscalar", "rank")
_NUMPY_2 = (
    "float_", "complex_", "unicode_", "string_", "Inf", "infty", "PINF", "NINF", "NaN", "product", "cumproduct", "sometrue",
    "alltrue", "asfarray", "cast", "find_common_type", "in1d", "trapz", "row_stack", "msort", "mat", "safe_eval",
)  # fmt: skip
_SCIPY = (
    "misc.imread", "misc.imsave", "misc.imresize", "misc.imrotate", "misc.toimage", "misc.fromimage", "misc.bytescale",
    "misc.logsumexp", "misc.comb", "misc.factorial", "interp", "integrate.trapz", "integrate.cumtrapz", "integrate.simps",
    "ndimage.imread",
)  # fmt: skip
_SKLEARN = (
    "externals.joblib", "cross_validation", "grid_search", "utils.linear_assignment_", "datasets.samples_generator",
    "ensemble.forest",
)  # fmt: skip
_COLLECTIONS = (
    "Iterable", "Iterator", "Mapping", "MutableMapping", "Sequence", "MutableSequence", "Set", "MutableSet", "Callable",
    "Hashable", "Sized", "Container", "Generator", "KeysView", "ValuesView", "ItemsView", "Awaitable", "Coroutine",
    "ByteString",
)  # fmt: skip
_PYTHON = (
    "time.clock", "inspect.getargspec", "fractions.gcd", "base64.encodestring", "base64.decodestring",
    "xml.etree.cElementTree",
)  # fmt: skip
_PYTHON_312 = ("imp", "distutils", "asyncore", "pipes")

_PILLOW = ("ANTIALIAS", "CUBIC", "LINEAR")

_GONE = frozenset({
    *(f"PIL.Image.{name}" for name in _PILLOW),
    *(f"numpy.{name}" for name in _NUMPY),
    *(f"scipy.{name}" for name in _SCIPY),
    *(f"sklearn.{name}" for name in _SKLEARN),
    *(f"collections.{name}" for name in _COLLECTIONS),
    *_PYTHON,
})  # fmt: skip
BROUGHT_BACK = _GONE | {*(f"numpy.{name}" for name in _NUMPY_2), *_PYTHON_312}
"""Qualified names. What Python 3.12 and NumPy 2 dropped is here, as TensorFlow 2.15 takes Python 3.11 and NumPy 1.26 at most."""
_MOVED = frozenset({
    "keras", "scipy.interpolate.interp", "scipy.sparse.linalg.eigen.arpack", "sklearn.metrics.classification",
    "sklearn.metrics.ranking", "sklearn.preprocessing.data", "tensorboard.summary",
})  # fmt: skip
"""More that has its names of then with npu_bridge: Keras as a package of its own has old paths of its modules, too."""
_TAKING_MORE = frozenset({"numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.loadtxt", "yaml.load", "yaml.load_all"})
"""Functions that npu_bridge replaces by some that take what they took then: an import by name keeps the function of now."""
METHODS = frozenset({"as_matrix", "isAlive"})
"""Methods that npu_bridge has back: of pandas' tables and of threads."""
_USES = _GONE | _MOVED | {"yaml.load", "yaml.load_all"}
_IMPORTS = _USES | _TAKING_MORE
_LAST_PARTS = METHODS | {name.rpartition(".")[2] for name in _USES}


def needs_npu_bridge(name: str) -> bool:
    """Whether a qualified name works only once npu_bridge is imported: one of the table, or part of a module of it."""
    return _is_among(name, _USES)


def import_needs_npu_bridge(name: str) -> bool:
    """The same of a name or module that an import statement asks for."""
    return _is_among(name, _IMPORTS)


def _is_among(name: str, table: frozenset[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:n]) in table for n in range(1, len(parts) + 1))


def uses_old_names(imports: Iterable[Target], nodes: ParsedNodes, modules: Mapping[str, Target]) -> bool:
    """Whether a file needs npu_bridge for an import, or for an attribute of one of the modules that its names mean."""
    if any(level == 0 and import_needs_npu_bridge(module) for level, module in imports):
        return True
    for node in nodes.of(ast.Attribute):
        if node.attr in _LAST_PARTS:
            root, parts = chain(node)
            level, module = modules.get(root, (-1, ""))
            if node.attr in METHODS or (level == 0 and needs_npu_bridge(".".join([module, *parts]))):
                return True
    return False
