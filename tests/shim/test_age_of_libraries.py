"""Names that scipy and scikit-learn moved since 2019, in scripts that use npu_bridge."""

from __future__ import annotations

import numpy as np

OLD = """
import npu_bridge
import numpy as np
import scipy.interpolate
from scipy import interp
from scipy.integrate import simps, trapz
from scipy.sparse.linalg.eigen.arpack import eigsh
from sklearn.cross_validation import train_test_split
from sklearn.datasets.samples_generator import make_blobs
from sklearn.externals import joblib
from sklearn.externals.joblib import Memory
from sklearn.utils.linear_assignment_ import linear_assignment
import joblib as today
import scipy.sparse.linalg, sklearn.datasets, sklearn.model_selection
assert interp is np.interp is scipy.interpolate.interp and simps([1, 1, 1]) == trapz([1, 1, 1]) == 2
assert eigsh is scipy.sparse.linalg.eigsh and make_blobs is sklearn.datasets.make_blobs
assert joblib.Memory is Memory is today.Memory and train_test_split is sklearn.model_selection.train_test_split
assert linear_assignment(np.array([[4, 1], [2, 8]])).tolist() == [[0, 1], [1, 0]]
from npu_bridge import _process
_process.leave()
assert not hasattr(scipy.interpolate, "interp")
try:
    import sklearn.cross_validation
    raise SystemExit("sklearn.cross_validation is still there")
except ImportError:
    pass
"""


def test_what_moved_is_found_and_named_once(fresh):
    lines = [line for line in fresh(OLD).stderr.splitlines() if "is gone since this script was written" in line]
    assert len(lines) == len(set(lines)) == 9
    assert any("sklearn.cross_validation is gone" in line and "write sklearn.model_selection" in line for line in lines)


def test_tables_with_a_delimiter_of_several_characters(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_text("1::2::3.5\n# nothing\n4::5::6\n")
    expected = [[1, 2, 3.5], [4, 5, 6]]
    assert np.loadtxt(path, delimiter="::").tolist() == expected
    with path.open("rb") as file:
        assert np.loadtxt(file, float, "#", b"::").tolist() == expected
    assert np.loadtxt(["1::2", "3::4"], delimiter="::", skiprows=1, dtype=int, usecols=1).tolist() == 4
    assert np.loadtxt(["1,2"], delimiter=",").tolist() == [1, 2]


BOARD = """
import npu_bridge
import tensorflow as tf
from tensorboard import summary
from tensorboard.plugins.custom_scalar import layout_pb2
chart = layout_pb2.Chart(title="losses", multiline=layout_pb2.MultilineChartContent(tag=["loss"]))
made = summary.custom_scalar_pb(layout_pb2.Layout(category=[layout_pb2.Category(title="all", chart=[chart])]))
assert isinstance(made, tf.Summary) and made.value[0].metadata.plugin_data.plugin_name == "custom_scalars"
assert summary.scalar_pb("loss", 2.5).value[0].tag == "loss/scalar_summary"
curve = summary.pr_curve("curve", labels=tf.constant([True]), predictions=tf.constant([0.5]), num_thresholds=3)
assert curve.dtype == tf.string and curve.graph is tf.get_default_graph()
from npu_bridge import _process
_process.leave()
assert not hasattr(summary, "custom_scalar_pb")
"""


def test_summaries_that_tensorboard_made_for_version_1(fresh):
    lines = [line for line in fresh(BOARD).stderr.splitlines() if "is gone since this script was written" in line]
    assert len(lines) == 3 and "today write tensorboard.summary.v1.custom_scalar_pb" in lines[0]


RAGGED = """
import npu_bridge
import numpy as np
import tensorflow as tf
x, y = np.ones([4, 3]), np.ones([4, 2])
pairs = np.array(list(zip(x, y)))
assert pairs.shape == (4, 2) and pairs.dtype == object and pairs[0, 1].tolist() == [1, 1]
rows, labels = zip(*pairs[np.random.permutation(4)])
assert np.array(rows).shape == (4, 3) and np.asarray([[1], [2, 3]]).shape == (2,)
assert np.array([1, 2]).dtype == np.int64 and np.array([[1.0], [2]], np.float32).shape == (2, 1)
rows = [[1], [2, 3]]
for bad in (lambda: np.array(rows, np.float32), lambda: np.array(rows, dtype=int), lambda: tf.constant(rows)):
    try:
        bad()
        raise SystemExit("no error")
    except (TypeError, ValueError):
        pass
from npu_bridge import _process
_process.leave()
try:
    np.array([[1], [2, 3]])
    raise SystemExit("still there")
except ValueError:
    pass
"""


def test_rows_of_different_lengths_become_objects_as_they_did(fresh):
    lines = [line for line in fresh(RAGGED).stderr.splitlines() if "rows of different lengths" in line]
    assert len(lines) == 2 and "today write np.array(..., dtype=object)" in lines[0] and ":6)" in lines[0]
