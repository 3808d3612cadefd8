"""Programs that random generation found the converter wrong about, made small; each names what was violated."""

from __future__ import annotations

import pytest

from benchmarks.fuzzing import checks
from tf2npu.config import Config, Target
from tf2npu.engine.convert_file import convert_source

pytestmark = pytest.mark.each_python

TF1 = "import tensorflow as tf\n"
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
        TF1 + "e = tf.contrib.tpu.TPUEstimator(fn, params=p,)\n"
        "f = tf.contrib.tpu.TPUEstimator(\n    fn, d,  # why\n)\ng = tf.contrib.tpu.TPUEstimator(\n    fn, d)\n",
        Config(),
    ),
    "crash: several keywords before a comment": (
        TF1 + "e = tf.contrib.tpu.TPUEstimator(\n    fn,\n    params=p  # why\n)\n"
        "f = tf.contrib.tpu.TPUEstimator(\n    fn,\n    d, )\n",
        Config(),
    ),
    "comments: behind a string in parentheses": (
        TF1 + "tf.config.experimental.set_memory_growth(('a' # in\n), [('b'  # one\n 'c' # two\n)])\n",
        Config(),
    ),
    "crash: a keyword behind a generator": (
        TF1 + "s = tf.InteractiveSession(g for g in gs)\nt = tf.Session(\n    g for g in gs\n)\n"
        "e = tf.estimator.Estimator(f for f in fs)\nv = tf.nn.dropout(x for x in xs)\n",
        Config(),
    ),
    "crash: lines are replaced among lines that are indented": (
        TF1 + "m = tf.keras.Sequential()\nif __name__ == '__main__':\n    def gelu(x):\n"
        "        cdf = 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))  # erf\n        return x * cdf\n    m.fit(x)\n",
        Config(unsafe_fixes=True),
    ),
    "parses: imports are inserted among lines that are indented": (
        "if __name__ == '__main__':\n    x = 1\n    if x:\n        import tensorflow as tf\n"
        "    import horovod.tensorflow as hvd\n"
        "    hvd.init()\n    tf.train.AdamOptimizer(hvd.size()).minimize(x)\n    tf.Session()\n",
        HVD,
    ),
    "parses: an import at the first line of what is indented": (
        "if __name__ == '__main__':\n    import tensorflow as tf\n    m = tf.keras.Sequential()\n"
        "    m.fit(x)\n    tf.Session()\n",
        Config(),
    ),
    "crash: two rules add a keyword": (
        TF1 + "a = tf.train.MonitoredTrainingSession()\nb = tf.train.MonitoredTrainingSession(m,)\n"
        "c = tf.train.MonitoredTrainingSession(\n    m,\n)\nd = tf.train.MonitoredTrainingSession(\n    m,\n    True  # why\n)\n"
        "e = tf.train.MonitoredTrainingSession(\n    m,\n    True\n)\n",
        TF,
    ),
    "undefined: an import for lines put above its place": ("self = tf.Session()\nimport tensorflow as tf\n", Config(target=OLD)),
    "undefined: used above the import, in a comprehension": (
        "x = {est.train(f, hooks=[]) for k in y}\nimport tensorflow as tf\nest = tf.estimator.Estimator(fn)\n",
        TF,
    ),
    "crash: a generator where a keyword is added for all ranks": (TF1 + "e = tf.estimator.EvalSpec(f for f in fs)\n", TF),
    "undefined: used above the import": ("v = tf.nn.dropout(x, rate=1)\nimport tensorflow as tf\n", Config()),
    "second pass: star imports of two packages": (
        "from keras.layers import *\nimport tensorflow as T\nm = T.keras.Sequential()\n"
        "if __name__ == '__main__':\n    m.fit(x)\n",
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
    "untouched: a null byte": (TF1 + "tf.Session(('\0'))\n", Config()),
    "parses: a guard indented by tabs and blanks": (
        TF1 + "m = tf.keras.Sequential()\nif __name__ == '__main__':\n\t  if x:\n\t\t  m.fit(x)\n\t  y()\n",
        Config(),
    ),
    "second pass: a name of npu_bridge is the file's own in a class": (
        TF1 + "class C:\n    npu_config_proto = ()\n    with tf.Session() as sess:\n        pass\n",
        STAR,
    ),
    "second pass: an imported name is the file's own in a class": (
        "from npu_bridge.npu_init import npu_config_proto\n" + TF1 + "class C:\n    npu_config_proto = 1\n"
        "    with tf.Session() as sess:\n        pass\n",
        Config(),
    ),
    "second pass: a name of a star import is the file's own in a class": (
        "from npu_bridge.npu_init import *\n" + TF1 + "class C:\n    npu_config_proto = 1\n"
        "    with tf.Session() as sess:\n        pass\n",
        Config(),
    ),
    "untouched: an indented import behind a backslash": (
        " \\\n" + TF1 + "if __name__ == '__main__':\n    tf.Session()\n",
        Config(),
    ),
    "untouched: an indented line behind a backslash": (TF1 + " \\\nif x:\n    tf.Session()\n", Config()),
    "second pass: a positional argument with Horovod is taken out": (
        "if D:\n    import horovod.tensorflow as hvd\nopt = hvd.DistributedOptimizer('', hvd, '')\n",
        HVD,
    ),
    "second pass: an argument with Horovod deep inside is taken out": (
        "import horovod.tensorflow as hvd\nopt = hvd.DistributedOptimizer('', op=[hvd.Adasum, hvd])\n",
        HVD,
    ),
    "second pass: Horovod in a setting of GPUs": (
        TF1 + "import horovod.tensorflow as hvd\ntf.config.experimental.set_memory_growth(hvd.nothing_known, hvd)\n",
        HVD,
    ),
    "second pass: a name is given what shutdown returns": (
        "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    pass\n" + TF1 + "e = tf.estimator.Estimator(fn)\n"
        "tf = hvd.shutdown()\n",
        HVD,
    ),
    "crash: bytes and text one behind another": (TF1 + "s = tf.Session()\nx = {b'' ''}\n", Config()),
    "crash: a generator is cast": (TF1 + "a = tf.metrics.accuracy(x for x in y)\n", Config(unsafe_fixes=True)),
    "second pass: training without arguments": (TF1 + "tf.contrib.training.train()\n", TF),
    "undefined: npu_bridge imported below its use": (
        TF1 + "s = tf.Session()\nfrom npu_bridge.npu_init import *\n",
        Config(),
    ),
    "undefined: a name of npu_bridge imported below its use": (
        TF1 + "s = tf.Session()\nx = tf.nn.dropout(y, 0.5)\nfrom npu_bridge.npu_init import npu_config_proto\n",
        Config(),
    ),
    "undefined: npu_bridge imported in the block that uses it": (
        TF1 + "with tf.Session() as sess:\n    from npu_bridge.npu_init import *\n",
        STAR,
    ),
    "second pass: a session and then nothing under the name of TensorFlow": (
        "import horovod.tensorflow as hvd\n" + TF1 + "with tf.Session():\n    pass\ntf = hvd.shutdown()\nhvd.callbacks()\n",
        HVD,
    ),
    "second pass: a question whether to average holds something to convert": (
        TF1 + "import horovod.tensorflow as hvd\nv = hvd.allreduce(t, tf.nn.dropout(x, 5))\n"
        "w = hvd.allreduce(t, average=1 if tf.nn.dropout(x, 5) else 0)\n",
        HVD,
    ),
    "crash: a line below the last one of what is indented": (
        TF1 + "m = tf.keras.Sequential()\nif __name__ == '__main__':\n    a = tf.metrics.accuracy(x, y)\n",
        TF,
    ),
    "second pass: one of two sessions of a line is taken out": (
        TF1 + "tf.contrib.compiler.jit.experimental_jit_scope(tf.Session(), tf.InteractiveSession())\n",
        Config(target=OLD),
    ),
    "second pass: nothing but imports to start for": (
        "try:\n    import tensorflow as x\nexcept E:\n    tf.estimator.train_and_evaluate()\nfrom npu_bridge.npu_init import *\n",
        STAR_TF,
    ),
    "second pass: npu_bridge imported at the end": (
        TF1 + "tf.estimator.train_and_evaluate(e, t, v)\nfrom npu_bridge.npu_init import *\n",
        TF,
    ),
    "second pass: Keras beside Horovod for the adapter of 2021": (
        TF1 + "import horovod.tensorflow as hvd\nimport tensorflow.keras as K\nhvd.init()\n",
        Config(distributed="horovod", target=OLD),
    ),
    "undefined: npu_bridge imported below the dict of its use": (
        TF1 + "kw = dict(config=c)\nfrom npu_bridge.npu_init import *\ns = tf.Session(**kw)\n",
        Config(),
    ),
    "second pass: a session is cleared where XLA is asked for": (
        TF1 + "tf.contrib.compiler.jit.experimental_jit_scope(tf.keras.backend.clear_session())\n",
        Config(),
    ),
    "second pass: a session in a guard of one line, for the adapter of 2021": (
        TF1 + "import horovod.tensorflow as hvd\nhvd.init()\nif __name__ == '__main__': tf.contrib.training.train(1)\n",
        Config(distributed="horovod", target=OLD),
    ),
    "undefined: TensorFlow imported below what is started for the adapter of 2021": (
        "(model.fit_generator())\nimport tensorflow\n",
        Config(distributed="tf", target=OLD),
    ),
    "crash: a guard of one line that ends in a backslash": (
        TF1 + "m = tf.keras.Sequential()\nif __name__ == '__main__': m.fit(x)\\\n \n",
        Config(),
    ),
    "second pass: one of two uses of a dict is taken out": (
        TF1 + "import horovod.tensorflow as hvd\nkw = {'config': c}\nv = hvd.DistributedOptimizer(o, op=tf.Session(**kw))\n"
        "s = tf.Session(**kw)\n",
        HVD,
    ),
    "second pass: an argument with an Estimator is taken out": (
        TF1 + "import horovod.tensorflow as hvd\nm = tf.keras.Sequential()\n"
        "v = hvd.DistributedOptimizer(m, device_sparse(seed=tf.estimator.Estimator))\ntf.Session()\n",
        HVD,
    ),
    "second pass: a session for Keras is set where GPUs are": (
        TF1 + "m = tf.keras.Sequential()\nif __name__ == '__main__':\n"
        "    tf.config.experimental.set_memory_growth(tf.keras.backend.set_session(s), 1)\n    m.fit(x)\n",
        Config(),
    ),
    "second pass: a backslash alone in the line below the guard": (
        TF1 + "(est.train(3))\nif __name__ == '__main__': (1..erf())\n\\\nif x:\n    pass\n",
        Config(distributed="tf"),
    ),
    "comments: a config of None in parentheses with a comment, for the adapter of 2021": (
        TF1 + "def train():\n    tf.contrib.slim.learning.train('', session_config=(None#\n    ))\n",
        Config(distributed="tf", target=OLD),
    ),
    "crash: a broadcast with a device and no root": (
        TF1 + "import horovod.tensorflow as hvd\nh = hvd.BroadcastGlobalVariablesHook(device='')\n",
        HVD,
    ),
    "second pass: a function imports again what dropout layers need": (
        TF1 + "import utils\ndef f():\n    from npu_bridge.estimator.npu import npu_convert_dropout\n"
        "    return tf.keras.layers.Dropout(.5)\n",
        Config(),
    ),
    "second pass: a script with its own npu_run_config_init": (
        TF1
        + "def npu_run_config_init(run_config=None):\n    return run_config\nC = tf.estimator.RunConfig(log_step_count_steps=1)\n"
        "E = tf.estimator.Estimator(f, config=npu_run_config_init(run_config=C))\n",
        Config(),
    ),
    "compiles: TensorFlow imported in the line of the imports from __future__": (
        "from __future__ import division; import tensorflow as tf\nif __name__ == '__main__': tf.Session()\n",
        Config(),
    ),
    "compiles: TensorFlow imported in the line of the docstring": (
        '"""Doc."""; from __future__ import division; import tensorflow as tf; s = tf.Session()\n',
        Config(),
    ),
    "crash: the start would come between a backslash and the comment behind it": (
        TF1 + "import horovod.tensorflow as hvd\ntry:\n    tf.Session()\nexcept:hvd\\\n# c\nhvd.init()\n",
        HVD,
    ),
    "undefined: npu_bridge imported below the dict that a function uses": (
        TF1 + "kw = dict(config=c)\nfrom npu_bridge.npu_init import *\ndef f():\n    def g():\n        s = tf.Session(**kw)\n",
        STAR,
    ),
    "second pass: whether to average is asked by the import of Horovod": (
        TF1 + "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    t = hvd.allreduce(t, hvd)\n",
        HVD,
    ),
    "second pass: TensorFlow is imported in the one function that a guard calls": (
        "def main():\n    import tensorflow as tf\n    s = tf.train.experimental.FixedLossScale(128)\n"
        "if __name__ == '__main__':\n    main()\n",
        Config(),
    ),
    "second pass: dropout layers in a function that imports TensorFlow": (
        "class C:\n    def f(self):\n        import tensorflow as tf\n        x = tf.layers.dropout(x, training=True)\n",
        Config(),
    ),
    "comments: a flag for a guarded import, and one more statement": (
        "try:\n    import horovod.tensorflow as hvd; a = 1  # why\nexcept ImportError:\n    hvd = None\n",
        HVD,
    ),
    "second pass: the end of Horovod in the arguments of a GPU setting": (
        TF1 + "import horovod.tensorflow as hvd\ntf.config.experimental.set_memory_growth(f(hvd.shutdown()), True)\n",
        HVD,
    ),
    "second pass: a session in the arguments of a GPU setting": (
        TF1 + "tf.config.experimental.set_memory_growth(tf.Session(), True)\ns = tf.Session(config=tf.ConfigProto())\n",
        Config(target=OLD),
    ),
    "crash: a form feed before the indentation below the entry guard": (
        TF1 + "m = tf.keras.Sequential()\nif __name__ == '__main__':\n\x0c    m.fit(x)\n \x0c    # c\n    m.predict(x)\n",
        Config(),
    ),
    "comments: in a test that holds nothing but a setting of GPUs": (
        "import tensorflow as tf\ntf.config.list_physical_devices('GPU')\ndef f(gpus):\n    if gpus:  # all of them\n"
        "        # they share\n        tf.config.experimental.set_memory_growth(gpus[0], True)  # at first\n"
        "if gpus:  # why\n    tf.config.experimental.set_memory_growth(gpus[0], True)\nf(1)\n",
        Config(),
    ),
    "crash: the one import at the top of a module stands below a function that imports, too": (
        "def f(a):\n    import tensorflow.compat.v1 as tf\n    with tf.GradientTape() as t:\n        b = a\n    return t\n"
        "if condition:\n    import tensorflow.compat.v1 as tf\n    s = tf.ones(1)\nif __name__ == '__main__':\n    f(s)\n",
        Config(),
    ),
    "crash: a backslash alone at the left inside the entry guard": (
        TF1 + "m = tf.keras.Sequential()\nif __name__ == '__main__':\n    m.fit(x)\n\\\n    m.fit(y)\n\x0c\\\n    m.fit(z)\n",
        Config(),
    ),
}


def test_a_form_feed_before_the_entry_guard_is_not_repeated() -> None:
    before = TF1 + "m = tf.keras.Sequential()\n\x0cif __name__ == '__main__': m.fit(x, \\\n y)\n"
    after = convert_source(before).after.decode()
    assert after.count("\x0c") == 1 and "\n    try:\n        m.fit(x, \\\n y)\n    finally:\n" in after


@pytest.mark.parametrize(("text", "config"), PROGRAMS.values(), ids=PROGRAMS)
def test_every_property_holds(text: str, config: Config) -> None:
    for newline in ("\n", "\r\n"):
        looked = checks.look(text.replace("\n", newline).encode(), config)
        assert not looked.violations


def test_an_import_that_stays_says_so() -> None:
    result = convert_source("import horovod.tensorflow as hvd\nn = hvd.size()  # tf2npu: ignore\n", "m.py", HVD)
    assert result.after == result.before
    assert any(f.rule == "NPU401" and "import stays" in f.message for f in result.findings)
