"""Files that use a library beside TensorFlow alone stay as they are, and a second conversion changes none."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.converter.test_golden import convert_folder
from tests.how_many import drawn
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source

OTHERS = [
    "from keras.datasets import mnist",
    "from keras.preprocessing.text import Tokenizer\nfrom keras.utils import to_categorical",
    "import horovod.torch as hvd\nimport torch",
    "from tensorboardX import SummaryWriter",
    "import sonnet as snt",
    "import tensorflow_hub as hub",
    "import tensorflow_datasets as tfds",
    "import tensorflow_probability as tfp",
    "import tf_keras as keras",
    "import tensorpack",
    "from tensor2tensor import models",
    "# tensorflow",
]
OVER_TENSORFLOW = ["import tensorlayer as tl", "import tflearn"]
"""Packages that make the sessions themselves."""
OF_TENSORFLOW = [
    "import keras\nfrom keras import backend as K\nfrom keras.models import Sequential\nfrom keras.layers import Dense, Dropout",
    "from keras.datasets import mnist\nfrom keras.models import Sequential", "import horovod.keras as hvd\nimport keras",
    "from horovod import keras as hvd\nimport keras", "import keras\nfrom keras.engine.topology import Node",
    "import horovod.tensorflow as hvd", "import horovod.tensorflow.keras as hvd", "import horovod", "import tf_slim as slim",
    "import tensorflow_estimator as tfe", "from npu_bridge.npu_init import *", "import hccl", "import tensorflow as tf",
]  # fmt: skip
BODIES = [
    "(x, y), _ = mnist.load_data()\nprint(x)",
    "m = keras.models.Sequential()\nm.compile(loss='mse', optimizer='sgd')\nm.fit(x, y)",
    "m = Sequential()\nm.add(Dropout(0.5))\nm.fit(x, y)\nK.clear_session()\nK.set_session(K.get_session())",
    "hvd.init()\nopt = hvd.DistributedOptimizer(keras.optimizers.SGD(0.1 * hvd.size()))\nm.compile(opt)\n"
    "m.fit(x, y, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])\nprint(hvd.rank())",
    "net = slim.dropout(slim.conv2d(x, 3, 3))\nslim.learning.train(net)",
    "tl.layers.DropoutLayer(x)\nsess = tl.Session()",
    "est.train(input_fn)\nds = d.map(f).padded_batch(4, [1])\nfor b in ds.batch(4): pass",
    "import numpy as np\nfor k, v in d.iteritems():\n    print(k, np.int(3))\nz = zip([1], [2])\nprint(z[0])\n"
    "from scipy.misc import imsave",
    "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'",
    "def f(sess, tf):\n    with tf.device('/gpu:0'):\n        return tf.nn.dropout(sess, 0.5)",
]
SESSION = "with tf.Session() as s:\n    s.run(m.x)\n"
PROJECTS = [
    {},
    {"main.py": "import m\nm.main()\n"},
    {"main.py": f"import tensorflow as tf\nimport m\n{SESSION}"},
    {
        "main.py": f"import m\nimport tensorflow as tf\n{SESSION}",
        "show.py": "import m\nif __name__ == '__main__':\n    m.main()\n",
    },
]


def guarded(body: str) -> str:
    return f"def main():\n{textwrap.indent(body, '    ')}\n\nif __name__ == '__main__':\n    main()"


bodies = st.sampled_from(BODIES)
heads = st.sampled_from([*OTHERS, *OVER_TENSORFLOW, *OF_TENSORFLOW])
modules = st.builds("{}\n{}\n".format, heads, st.one_of(bodies, st.builds(guarded, bodies)))
configs = st.builds(
    Config, distributed=st.sampled_from(["none", "horovod", "tf"]), import_style=st.sampled_from(["explicit", "star"])
)


@settings(max_examples=drawn(300), deadline=None, derandomize=True)
@given(module=modules, project=st.sampled_from(PROJECTS), config=configs)
def test_a_second_conversion_changes_nothing(module: str, project: dict[str, str], config: Config) -> None:
    files = {path: text.encode() for path, text in {**project, "m.py": module}.items()}
    once = {path: result.after for path, result in convert_folder(files, config).items()}
    assert {path: result.after for path, result in convert_folder(once, config).items()} == once


@pytest.mark.parametrize("head", OTHERS)
@pytest.mark.parametrize("distributed", ["none", "horovod", "tf"])
def test_what_is_not_tensorflow_stays_as_it_is(head: str, distributed: str) -> None:
    for body in [*BODIES, *map(guarded, BODIES)]:
        source = f"{head}\n{body}\n"
        assert convert_source(source, "m.py", Config(distributed=distributed)).after.decode() == source


@pytest.mark.parametrize("head", OVER_TENSORFLOW)
def test_what_makes_sessions_elsewhere_gets_the_adapter_alone(head: str) -> None:
    for body in [*BODIES, *map(guarded, BODIES)]:
        source = f"{head}\n{body}\n"
        done = convert_source(source, "m.py").after.decode()
        assert done == f"import npu_bridge.npu_init  # noqa: F401  puts sessions on the NPU\n{source}"


def test_data_of_keras_are_read_by_tensorflow_where_it_is_there_anyway() -> None:
    data = b"from keras.datasets import mnist\nx = mnist.load_data()\n"
    main = b"import tensorflow as tf\nimport data\nwith tf.Session() as s:\n    s.run(data.x)\n"
    done = convert_folder({"data.py": data, "main.py": main}, Config())
    assert done["data.py"].after == b"from tensorflow.keras.datasets import mnist\nx = mnist.load_data()\n"
    done = convert_folder({"data.py": data, "main.py": main, "show.py": b"import data\nprint(data.x)\n"}, Config())
    assert done["data.py"].after == data
    assert [(f.rule, f.level.value) for f in done["data.py"].findings] == [("NPU303", "manual")]
