"""scikit-learn modules that are gone or have moved."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.old_libraries import report_import, report_use
from tf2npu.scanner.sites import Site

_OPENML = "sklearn.datasets.fetch_openml(name, version=1, as_frame=False), whose labels are texts"
_TABLE = {
    "sklearn.externals.joblib": ("0.23", "import joblib"),
    "sklearn.externals.six": ("0.23", "import six"),
    "sklearn.cross_validation": ("0.20", "sklearn.model_selection (train_test_split, KFold(n_splits=...))"),
    "sklearn.grid_search": ("0.20", "sklearn.model_selection"),
    "sklearn.learning_curve": ("0.20", "sklearn.model_selection"),
    "sklearn.datasets.fetch_mldata": ("0.22", _OPENML),
    "sklearn.datasets.load_boston": ("1.2", "sklearn.datasets.fetch_california_housing()"),
    "sklearn.preprocessing.Imputer": ("0.22", "sklearn.impute.SimpleImputer"),
    "sklearn.metrics.jaccard_similarity_score": ("0.23", "sklearn.metrics.jaccard_score"),
    "sklearn.metrics.plot_confusion_matrix": ("1.2", "sklearn.metrics.ConfusionMatrixDisplay.from_estimator"),
    "sklearn.utils.linear_assignment_": ("0.23", "scipy.optimize.linear_sum_assignment"),
    "sklearn.utils.testing": ("0.24", "sklearn.utils._testing"),
    "sklearn.datasets.samples_generator": ("0.24", "sklearn.datasets"),
    "sklearn.metrics.scorer": ("0.24", "sklearn.metrics"),
    "sklearn.neighbors.base": ("0.24", "sklearn.neighbors"),
    "sklearn.ensemble.forest": ("0.24", "sklearn.ensemble"),
    "sklearn.linear_model.logistic": ("0.24", "sklearn.linear_model"),
}
_INSTEAD = {name: code for name, (_, code) in _TABLE.items()}
_SINCE = {name: f"scikit-learn {version}" for name, (version, _) in _TABLE.items()}


@rule(
    id="NPU964",
    title="scikit-learn modules that are gone",
    once=True,
    matches=tuple(_TABLE),
    why="Old code uses modules that newer versions of scikit-learn no longer have.",
    done_when="`tf2npu run` passes this line, and the value is the one that the older version gave.",
    source="scikit-learn release notes (What's new)",
    examples=(
        Example.same(
            "from sklearn.externals import joblib\nimport tensorflow as tf",
            level="info",
            write="import joblib\nimport tensorflow as tf",
        ),
        Example.same("from sklearn.cross_validation import train_test_split\nimport tensorflow as tf", level="info"),
        Example.same(
            "from sklearn.preprocessing import Imputer\nimport tensorflow as tf",
            level="manual",
            write="from sklearn.impute import SimpleImputer as Imputer\nimport tensorflow as tf",
        ),
        Example.same("from sklearn.model_selection import train_test_split\nimport tensorflow as tf", note="its place today"),
        Example.same("import joblib\nimport tensorflow as tf", note="its place today"),
    ),
)
def sklearn_call(site: Site) -> None:
    """Reports scikit-learn modules and functions that are gone and says what to write."""
    report_use(site, _SINCE[site.name], _INSTEAD[site.name])


@part_of(sklearn_call, on="import")
def sklearn_import(site: Site) -> None:
    """Reports imports of scikit-learn modules that are gone."""
    report_import(site, _INSTEAD, _SINCE)
