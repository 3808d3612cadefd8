"""Names that went since 2019 work in a process with npu_bridge, are logged once, and go again with it."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import inspect
import logging
import math
import sys
import threading
import time
import types

import numpy as np
import pytest
import tensorflow as tf
from npu_bridge import _log, _old_libraries


@pytest.fixture
def lines(monkeypatch):
    """Lines that the shim logs in this test, with nothing said before."""
    said: list[str] = []
    monkeypatch.setattr(_log, "_said", set())
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    _log.log.addHandler(handler)
    yield said
    _log.log.removeHandler(handler)


@pytest.mark.parametrize("name", ["int", "float", "bool", "object", "str", "complex"])
def test_python_types_under_numpy(name, lines):
    kind = getattr(np, name)
    assert kind is getattr(__import__("builtins"), name) and np.zeros(2, kind).dtype.kind == np.dtype(kind).kind
    assert getattr(np, name) is kind
    assert len(lines) == 1 and f"numpy.{name} is gone" in lines[0]


def test_numpy_functions(lines):
    assert np.asscalar(np.array([3.5])) == 3.5 and isinstance(np.asscalar(np.array(2)), int)
    assert np.alltrue([1, 1]) and np.product([2, 3]) == 6 and np.in1d([1, 2], [2]).tolist() == [False, True]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        np.nonsense  # noqa: B018


@pytest.mark.parametrize("name", ["Iterable", "Mapping", "MutableMapping", "Sequence", "Callable", "Hashable"])
def test_abstract_classes_of_collections(name, lines):
    names: dict = {}
    exec(f"from collections import {name} as found", names)
    assert names["found"] is getattr(collections.abc, name) and len(lines) == 1
    assert collections.OrderedDict and not hasattr(collections, "Nonsense")


def test_getargspec(lines):
    def function(a, b=1, *c, **d):
        """Any."""

    assert tuple(inspect.getargspec(function)) == (["a", "b"], "c", "d", (1,))
    assert inspect.getargspec(function).keywords == "d"

    def annotated(a: int, *, b: int = 1) -> None:
        """Any."""

    with pytest.raises(ValueError, match="keyword-only parameters or annotations"):
        inspect.getargspec(annotated)


def test_clock_gcd_encodestring_is_alive(lines):
    start = time.clock()
    assert time.clock() >= start and fractions.gcd(12, 18) == math.gcd(12, 18) == 6
    assert base64.decodestring(base64.encodestring(b"abc")) == b"abc"
    assert threading.current_thread().isAlive()
    assert [line.split(" is gone")[0] for line in lines] == [
        "time.clock", "fractions.gcd", "base64.decodestring", "base64.encodestring", "threading.Thread.isAlive",
    ]  # fmt: skip


def test_the_value_of_a_dataset_of_h5py(lines, tmp_path):
    import h5py

    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["image"], file["size"] = np.arange(6).reshape(2, 3), 5
        assert file["image"].value.tolist() == [[0, 1, 2], [3, 4, 5]] and file["size"].value == 5
    assert len(lines) == 1 and "dataset[()]" in lines[0]


def test_an_enum_flag_with_a_text(lines):
    from absl import flags

    values = flags.FlagValues()
    flags.DEFINE_enum("mode", "train", "train, eval", "what to do", flag_values=values)
    values(["script", "--mode=eval"])
    assert values.mode == "eval" and len(lines) == 1
    with pytest.raises(flags.IllegalFlagValueError):
        values(["script", "--mode=sleep"])
    with pytest.raises(ValueError, match="cannot be empty"):
        flags.DEFINE_enum("other", None, [], "nothing", flag_values=values)


def test_yaml_without_a_loader(lines, monkeypatch):
    yaml = types.ModuleType("yaml")

    def load(stream, Loader):
        return stream, Loader

    yaml.load, yaml.load_all, yaml.FullLoader = load, load, "full"
    journal = _old_libraries.Journal()
    _old_libraries.yaml_loading.add(journal, yaml)
    assert yaml.load("a: 1") == ("a: 1", "full") and yaml.load("a: 1", Loader="own") == ("a: 1", "own")
    assert len(lines) == 1 and "Loader=yaml.FullLoader" in lines[0]
    journal.undo()
    assert yaml.load is load


def test_a_module_is_changed_when_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "late_module.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    journal, finders = _old_libraries.Journal(), list(sys.meta_path)
    _old_libraries.AfterImport({"late_module": lambda journal, module: journal.set(vars(module), "value", 2)}).watch(journal)
    import late_module

    assert late_module.value == 2
    journal.undo()
    assert late_module.value == 1 and sys.meta_path == finders
    del sys.modules["late_module"]


def test_older_places_of_pictures(lines):
    import scipy.misc
    import scipy.ndimage

    assert scipy.ndimage.imread is scipy.misc.imread
    if importlib_has("PIL"):
        import PIL.Image

        assert PIL.Image.ANTIALIAS == PIL.Image.LANCZOS and PIL.Image.CUBIC == PIL.Image.BICUBIC


def test_pictures_of_scipy_misc(lines):
    import scipy.misc

    scaled = scipy.misc.bytescale(np.array([[0.0, 0.5], [1.0, 0.25]]))
    assert scaled.dtype == np.uint8 and scaled.tolist() == [[0, 128], [255, 64]]
    assert scipy.misc.bytescale(scaled) is scaled
    assert scipy.misc.logsumexp([0.0, 0.0]) == pytest.approx(math.log(2)) and scipy.misc.comb(4, 2) == 6
    if importlib_has("PIL"):
        assert scipy.misc.imresize(np.zeros((4, 6, 3), np.uint8), (2, 3)).shape == (2, 3, 3)
        assert scipy.misc.imresize(np.zeros((4, 6), np.uint8), 0.5).shape == (2, 3)
    else:
        with pytest.raises(ImportError, match="install the package Pillow"):
            scipy.misc.imresize(np.zeros((4, 6), np.uint8), 0.5)


@pytest.mark.parametrize("size", [48.0, np.float32(48), np.float64(48)])
def test_sizes_divided_with_a_slash(size, graph):
    """Values and errors as genuine TensorFlow 1.15 gives them."""
    assert tf.TensorShape([3, size]).as_list() == [3, 48]
    assert tf.placeholder(tf.float32, [None, size]).shape.as_list() == [None, 48]
    weights = tf.get_variable("weights", [3, size])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(weights).shape == (3, 48)
    for wrong in (48.5, float("nan"), float("inf"), -1.0):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            tf.TensorShape([wrong])


def importlib_has(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


UNTOUCHED = """
import collections, fractions, time, numpy
def there():
    return [hasattr(*pair) for pair in ((collections, "Iterable"), (fractions, "gcd"), (time, "clock"), (numpy, "asscalar"))]
assert there() == [False] * 4
import npu_bridge.npu_init
assert there() == [True] * 4
from npu_bridge import _process
_process.leave()
assert there() == [False] * 4
"""


def test_only_while_npu_bridge_is_there(fresh):
    fresh(UNTOUCHED)
