"""Programs that random generation found the converter wrong about, made small; each names what was violated."""

from __future__ import annotations

import pytest

from benchmarks.fuzzing import checks
from tf2npu.config import Config, Target
from tf2npu.convert import convert_source

HVD, STAR, TF = Config(distributed="horovod"), Config(import_style="star"), Config(distributed="tf")
STAR_HVD, STAR_TF = Config(distributed="horovod", import_style="star"), Config(distributed="tf", import_style="star")
OLD = Target(adapter="2021")
PROGRAMS = {
    "crash: a name given by position": ("import horovod.tensorflow as hvd\nv = hvd.allgather(a, 'name')\n", HVD),
    "undefined: a collective that is not converted": ("from horovod import tensorflow as hvd\ng = hvd.allreduce()\n", HVD),
    "undefined: a collective passed on": ("import horovod.tensorflow as hvd\nmap(hvd.allgather, xs)\n", HVD),
    "undefined: a rank that a comment keeps": ("import horovod.tensorflow as hvd\nn = hvd.size()  # tf2npu: ignore\n", HVD),
    "undefined: a flag that is still used": (
        "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    hvd = None\nif hvd: hvd.allreduce(*a)\n",
        HVD,
    ),
    "crash: several keywords behind a last comma": (
        "import tensorflow as tf\ne = tf.contrib.tpu.TPUEstimator(fn, params=p,)\n"
        "f = tf.contrib.tpu.TPUEstimator(\n    fn, d,  # why\n)\ng = tf.contrib.tpu.TPUEstimator(\n    fn, d)\n",
        Config(),
    ),
    "crash: several keywords before a comment": (
        "import tensorflow as tf\ne = tf.contrib.tpu.TPUEstimator(\n    fn,\n    params=p  # why\n)\n"
        "f = tf.contrib.tpu.TPUEstimator(\n    fn,\n    d, )\n",
        Config(),
    ),
    "comments: behind a string in parentheses": (
        "import tensorflow as tf\ntf.config.experimental.set_memory_growth(('a' # in\n), [('b'  # one\n 'c' # two\n)])\n",
        Config(),
    ),
    "undefined: an import for lines put above its place": ("self = tf.Session()\nimport tensorflow as tf\n", Config(target=OLD)),
    "undefined: used above the import": ("v = tf.nn.dropout(x, rate=1)\nimport tensorflow as tf\n", Config()),
    "second pass: star imports of two packages": (
        "from keras.layers import *\nimport tensorflow as T\nm = T.keras.Sequential()\nif __name__ == '__main__':\n    m.fit(x)\n",
        STAR,
    ),
    "second pass: a star import brings a name that was missing": (
        "from horovod import tensorflow as hvd\nmodel.set_jit(tf.OptimizerOptions(hvd.init()))\n",
        STAR_HVD,
    ),
    "second pass: star import of TensorFlow in an entry": (
        "import tensorflow\nfrom tensorflow import *\nwith tensorflow.estimator.train_and_evaluate(a, b, c) as s:\n    pass\n",
        STAR_TF,
    ),
    "second pass: TensorFlow imported in a class": (
        "class C:\n    import tensorflow as tf\nif __name__ == '__main__':\n    C()\n",
        Config(import_style="star", target=OLD),
    ),
    "compiles: TensorFlow imported in a function": ("def f():\n    import tensorflow as tf\n    tf.Session()\n", STAR),
    "untouched: a null byte": ("import tensorflow as tf\ntf.Session(('\0'))\n", Config()),
    "parses: a guard indented by tabs and blanks": (
        "import tensorflow as tf\nm = tf.keras.Sequential()\nif __name__ == '__main__':\n\t  if x:\n\t\t  m.fit(x)\n\t  y()\n",
        Config(),
    ),
}


@pytest.mark.parametrize(("text", "config"), PROGRAMS.values(), ids=PROGRAMS)
def test_every_property_holds(text: str, config: Config) -> None:
    for newline in ("\n", "\r\n"):
        looked = checks.look(text.replace("\n", newline).encode(), config)
        assert not looked.violations


def test_an_import_that_stays_says_so() -> None:
    result = convert_source("import horovod.tensorflow as hvd\nn = hvd.size()  # tf2npu: ignore\n", "m.py", HVD)
    assert result.after == result.before
    assert any(f.rule == "NPU401" and "import stays" in f.message for f in result.findings)
