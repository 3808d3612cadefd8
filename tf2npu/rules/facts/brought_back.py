"""Names that other libraries dropped and that run all the same: npu_bridge has them back, and a host has the libraries of then.

A test looks each of them up in a process with npu_bridge, and each name that a rule reports and that is not here as well.
"""

from __future__ import annotations

_NUMPY = (
    "int", "float", "bool", "object", "str", "long", "unicode", "complex", "float_", "complex_", "unicode_", "string_",
    "Inf", "infty", "PINF", "NINF", "NaN", "product", "cumproduct", "sometrue", "alltrue", "asfarray", "cast",
    "find_common_type", "in1d", "trapz", "row_stack", "msort", "mat", "asscalar", "safe_eval",
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
    "xml.etree.cElementTree", "imp", "distutils", "asyncore", "pipes",
)  # fmt: skip

_PILLOW = ("ANTIALIAS", "CUBIC", "LINEAR")

BROUGHT_BACK = frozenset({
    *(f"PIL.Image.{name}" for name in _PILLOW),
    *(f"numpy.{name}" for name in _NUMPY),
    *(f"scipy.{name}" for name in _SCIPY),
    *(f"sklearn.{name}" for name in _SKLEARN),
    *(f"collections.{name}" for name in _COLLECTIONS),
    *_PYTHON,
})  # fmt: skip
"""Qualified names. What Python 3.12 and NumPy 2 dropped is here, as TensorFlow 2.15 takes Python 3.11 and NumPy 1.26 at most."""
