"""The support table: written from its raw inputs, found by every spelling, and no row without a reason."""

from __future__ import annotations

import csv
import re

import pytest

from tests.converter_api.inputs import RAW, build_api_table
from tf2npu.api_support.table import qualified, shown, signatures, table
from tf2npu.findings import Verdict
from tf2npu.rules import all_rules, rule_parts


@pytest.fixture(scope="module")
def rebuilt():
    return build_api_table.files()


def test_what_ships_is_what_the_script_writes(rebuilt):
    stale = [path.name for path, text in rebuilt.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `python tools/build_api_table.py`"


def vendor_names() -> list[str]:
    with (RAW / "vendor_levels.csv").open(encoding="utf-8", newline="") as file:
        return [row["name"] for row in csv.DictReader(file)]


def test_every_name_of_the_published_list_has_a_row(rebuilt):
    absent = [name for name in vendor_names() if table().find(qualified(name)) is None]
    assert absent == ["hvd.elastic.run(func)"]  # a call, as the page of contradictions says
    assert "`horovod.tensorflow.elastic.run(func)`" in rebuilt[build_api_table.PAGE]


def test_every_name_that_a_rule_matches_has_a_row():
    wanted = {name for part in rule_parts() if part.on in ("call", "reference") for name in part.matches}
    roots = ("tensorflow.", "horovod.")
    ours = sorted(n for n in wanted if n.startswith(roots) and ".python." not in n and ".__dict__" not in n)
    assert [name for name in ours if table().find(name) is None] == []


def test_rules_and_reasons_of_all_rows():
    known = {rule.id for rule in all_rules()}
    for api in table():
        assert not api.rule or api.rule in known, api
        assert api.source, api
        if api.verdict in (Verdict.MANUAL, Verdict.UNSUPPORTED, Verdict.UNKNOWN):
            assert api.note or api.source.startswith(("published list", "as ")), api


def test_every_decision_is_about_something():
    with (RAW / "decisions.csv").open(encoding="utf-8", newline="") as file:
        patterns = [row["name"] for row in csv.DictReader(file)]
    names = table().names()
    idle = [p for p in patterns if "*" not in p and table().find(p) is None]
    globs = [re.compile(p.replace(".", r"\.").replace("*", ".*") + "$") for p in patterns if "*" in p]
    idle += [glob.pattern for glob in globs if not any(map(glob.match, names))]
    assert idle == []


@pytest.mark.parametrize(
    ("name", "row", "verdict"),
    [
        ("tensorflow.nn.relu", "tensorflow.nn.relu", "runs"),
        ("tensorflow.compat.v1.nn.relu", "tensorflow.nn.relu", "runs"),
        ("tensorflow.reduce_mean", "tensorflow.math.reduce_mean", "runs"),
        ("tensorflow.python.client.session.Session", "tensorflow.Session", "converted"),
        ("tensorflow.Session().run", "tensorflow.Session.run", "runs"),
        ("tensorflow.InteractiveSession", "tensorflow.InteractiveSession", "converted"),
        ("tensorflow.is_nan", "tensorflow.math.is_nan", "manual"),
        ("tensorflow.debugging.is_nan", "tensorflow.math.is_nan", "manual"),
        ("tensorflow.data.Dataset().batch", "tensorflow.data.Dataset.batch", "converted"),
        ("tensorflow.keras.Model().fit", "tensorflow.keras.models.Model.fit", "runs"),
        ("tensorflow.gfile.GFile", "tensorflow.gfile.GFile", "host"),
        ("tensorflow.contrib.slim.conv2d", "tensorflow.contrib.layers.conv2d", "manual"),
        ("tensorflow.contrib.learn.Estimator", "tensorflow.contrib.learn.Estimator", "unsupported"),
        ("tensorflow.tpu.rewrite", "tensorflow.tpu.rewrite", "unsupported"),
        ("tensorflow.random.experimental.Generator", "tensorflow.random.experimental.Generator", "unknown"),
        ("tensorflow.keras.layers.MultiHeadAttention", "tensorflow.keras.layers.MultiHeadAttention", "unsupported"),
        ("tensorflow.ConfigProto().gpu_options.allow_growth", "tensorflow.ConfigProto.gpu_options", "runs"),
        ("tensorflow.GraphKeys.TRAINABLE_VARIABLES", "tensorflow.GraphKeys.TRAINABLE_VARIABLES", "runs"),
        ("tensorflow.train.AdamOptimizer().minimize", "tensorflow.train.AdamOptimizer.minimize", "runs"),
        ("horovod.tensorflow.rank", "horovod.tensorflow.rank", "converted"),
        ("horovod.tensorflow.keras.rank", "horovod.tensorflow.keras.rank", "converted"),
        ("horovod.keras.rank", "horovod.keras.rank", "manual"),
        ("horovod.tensorflow.Compression.fp16", "horovod.tensorflow.Compression.fp16", "converted"),
        ("horovod.tensorflow.alltoall", "horovod.tensorflow.alltoall", "unsupported"),
    ],
)
def test_a_row_is_found_by_any_spelling(name, row, verdict):
    api = table().find(name)
    assert api is not None
    assert (api.name, api.verdict.value) == (row, verdict)


@pytest.mark.parametrize("name", ["tensorflow.nn.rellu", "tensorflow.Session.rum", "os.path", "tensorflow.keras.Model().foo"])
def test_no_row_is_invented(name):
    assert table().find(name) is None


def test_what_hangs_on_an_object_is_a_use_of_the_object():
    assert table().reach("tensorflow.flags.FLAGS.batch_size.real")[1] == "tensorflow.flags.FLAGS"
    assert table().reach("tensorflow.float32.as_numpy_dtype")[1] == "tensorflow.float32"
    assert table().reach("tensorflow.__version__")[1] == "tensorflow.__version__"


def test_names_as_people_write_them_and_back():
    for name in ("tensorflow", "tensorflow.nn.relu", "horovod.tensorflow.rank", "horovod.tensorflow.keras.rank", "horovod.keras"):
        assert qualified(shown(name)) == name
    assert shown("tensorflow.nn.relu") == "tf.nn.relu"


def test_signatures_of_what_rules_edit():
    assert signatures()["tensorflow.Session"] == "(self, target='', graph=None, config=None)"
    assert signatures()["tensorflow.nn.dropout"] == "(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None)"
    assert signatures()["tensorflow.data.Dataset.batch"] == "(self, batch_size, drop_remainder=False)"
