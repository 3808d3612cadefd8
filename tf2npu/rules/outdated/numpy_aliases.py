"""NumPy names that are gone."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.old_libraries import report_import, report_use
from tf2npu.scanner.sites import Site

_124 = {
    "int": "int", "float": "float", "bool": "bool", "object": "object", "str": "str", "long": "int", "unicode": "str",
    "complex": "complex", "typeDict": "np.sctypeDict (up to NumPy 1.26) or np.dtype(name)",
}  # fmt: skip
_20 = {
    "float_": "np.float64", "complex_": "np.complex128", "unicode_": "np.str_", "string_": "np.bytes_", "Inf": "np.inf",
    "infty": "np.inf", "PINF": "np.inf", "NINF": "-np.inf", "NaN": "np.nan", "product": "np.prod", "cumproduct": "np.cumprod",
    "sometrue": "np.any", "alltrue": "np.all", "asfarray": "np.asarray(x, dtype=float)", "cast": "np.asarray(x, dtype=...)",
    "find_common_type": "np.result_type", "in1d": "np.isin", "trapz": "scipy.integrate.trapezoid", "row_stack": "np.vstack",
    "msort": "np.sort(x, axis=0)", "mat": "np.asmatrix",
}  # fmt: skip
_EARLIER = {"loads": "pickle.loads", "asscalar": "x.item()", "rank": "np.ndim", "safe_eval": "ast.literal_eval"}
_INSTEAD = {f"numpy.{name}": code for name, code in {**_124, **_20, **_EARLIER}.items()}
_SINCE = {
    **{f"numpy.{name}": "NumPy 1.24" for name in _124},
    **{f"numpy.{name}": "NumPy 2.0" for name in _20},
    **{f"numpy.{name}": "NumPy 1.23 or before" for name in _EARLIER},
}
_IMPORT = "import tensorflow as tf\nimport numpy as np\n"


@rule(
    id="NPU960",
    title="NumPy names that are gone",
    once=True,
    on=("call", "reference"),
    matches=tuple(_INSTEAD),
    why="Old code uses names that newer versions of NumPy no longer have; the replacement works with old and new ones.",
    done_when="`tf2npu run` passes this line, and the value is the one that the older version gave.",
    source="NumPy release notes of 1.18, 1.23, 1.24 and 2.0: expired deprecations",
    examples=(
        Example.same(
            f"{_IMPORT}x = np.zeros(3, dtype=np.int)",
            level="info",
            write="import tensorflow as tf\nimport numpy as np\nx = np.zeros(3, dtype=int)",
        ),
        Example.same(
            f"{_IMPORT}kind = np.typeDict['f']",
            level="manual",
            write="import tensorflow as tf\nimport numpy as np\nkind = np.dtype('f').type",
        ),
        Example.same(f"{_IMPORT}x = np.zeros(3, dtype=np.int32)", note="still there"),
        Example.same("import numpy as np\nx = np.zeros(3, dtype=np.int)", note="has nothing to do with TensorFlow"),
        Example.same(
            "import tensorflow as tf\nimport numpy as np\ntry:\n    t = np.long\nexcept AttributeError:\n    t = int",
            note="has another way",
        ),
    ),
)
def numpy_alias(site: Site) -> None:
    """Reports NumPy names that are gone and says what to write."""
    report_use(site, _SINCE[site.name], _INSTEAD[site.name])


@part_of(numpy_alias, on="import")
def numpy_import(site: Site) -> None:
    """Reports imports of NumPy names that are gone."""
    report_import(site, _INSTEAD, _SINCE)
