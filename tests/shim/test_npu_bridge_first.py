"""Converted programs that need at once what newer libraries dropped: each is run, and `npu_bridge` has it back in time."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import fork_server
from tests.converter.test_golden import convert_folder
from tests.shim.conftest import checked, plain_environment
from tf2npu.config import Config

TRAIN = """
x = tf.placeholder(tf.float32, [2])
with tf.Session() as sess:
    print('trained', sess.run(tf.reduce_sum(x * 2.0), {x: [1.0, 2.0]}))
"""
HELPER = "from scipy.misc import imsave\nfrom collections import Iterable\n"
PROGRAMS = {
    "below an import from scipy": {"train.py": f"from scipy.misc import imsave\nimport tensorflow as tf\n{TRAIN}"},
    "two in one statement": {"train.py": f"import scipy.interpolate, sklearn.cross_validation, tensorflow as tf\n{TRAIN}"},
    "three in one line": {"train.py": f"import os; from collections import Iterable; import tensorflow as tf\n{TRAIN}"},
    "behind what stays first": {
        "train.py": '"""Trains."""\nfrom __future__ import division\nfrom __future__ import print_function\n'
        f"from sklearn.externals import joblib\nimport tensorflow as tf\n{TRAIN}"
    },
    "docstring and import in one line": {
        "train.py": f'"""Trains."""; from scipy.misc import imresize\nimport tensorflow as tf\n{TRAIN}'
    },
    "a name of numpy": {"train.py": f"import numpy as np\nKIND = np.int\nimport tensorflow as tf\n{TRAIN}"},
    "a name of Python": {"train.py": f"import time\nSTART = time.clock()\nimport tensorflow as tf\n{TRAIN}"},
    "a function with other arguments": {
        "train.py": f"from yaml import load\nassert load('a: 1') == {{'a': 1}}\nimport tensorflow as tf\n{TRAIN}"
    },
    "rows of different lengths": {
        "train.py": f"from numpy import array\nimport tensorflow as tf\nassert len(array([[1], [2, 3]])) == 2\n{TRAIN}"
    },
    "a method of threads": {
        "train.py": "import threading\nassert not threading.Thread(target=len).isAlive()\n"
        f"import tensorflow as tf\n{TRAIN}"
    },
    "an old path of Keras": {
        "train.py": f"from keras.layers.core import Dense\nfrom keras.backend.tensorflow_backend import set_session\n"
        f"import tensorflow as tf\n{TRAIN}"
    },
    "a module of the board": {"train.py": f"from tensorboard.summary import scalar_pb\nimport tensorflow as tf\n{TRAIN}"},
    "in a function that is called above": {
        "train.py": f"def read():\n    from scipy.misc import imread\n    return imread\nread()\nimport tensorflow as tf\n{TRAIN}"
    },
    "in functions only": {
        "train.py": "def main():\n    from scipy.misc import imsave\n    import tensorflow as tf\n"
        + textwrap.indent(TRAIN, "    ") + "\nif __name__ == '__main__':\n    main()\n"
    },
    "in a try that ends the program": {
        "train.py": "import sys\ntry:\n    from scipy.misc import imsave\n    import tensorflow as tf\n"
        f"except ImportError:\n    sys.exit('install scipy')\n{TRAIN}"
    },
    "a helper before TensorFlow": {"train.py": f"import helper\nimport tensorflow as tf\n{TRAIN}", "helper.py": HELPER},
    "a helper behind TensorFlow": {"train.py": f"import tensorflow as tf\nimport helper\n{TRAIN}", "helper.py": HELPER},
    "a helper with TensorFlow": {
        "train.py": f"from helper import *\n{TRAIN}", "helper.py": f"{HELPER}import tensorflow as tf\n"
    },
    "a helper of a helper": {
        "train.py": f"from data import reader\nimport tensorflow as tf\n{TRAIN}",
        "data/__init__.py": "", "data/reader.py": "from . import files\n", "data/files.py": HELPER,
    },
    "the file of a package": {
        "train.py": f"import data.reader\nimport tensorflow as tf\n{TRAIN}", "data/__init__.py": HELPER, "data/reader.py": "",
    },
    "a helper in a function": {
        "train.py": f"def read():\n    import helper\n    return helper.imsave\nread()\nimport tensorflow as tf\n{TRAIN}",
        "helper.py": HELPER,
    },
    "npu_bridge below, from an older conversion": {
        "train.py": "from scipy.misc import imsave\nfrom npu_bridge.npu_init import npu_config_proto\n"
        f"import tensorflow as tf\n{TRAIN}"
    },
    "npu_bridge in a star below": {
        "train.py": f"from scipy.misc import imsave\nfrom npu_bridge.npu_init import *\nimport tensorflow as tf\n{TRAIN}"
    },
}  # fmt: skip


PACKAGE = {
    "net/__init__.py": HELPER,
    "net/model.py": "import tensorflow as tf\n",
    "net/train.py": "from .model import tf\n\nif __name__ == '__main__':\n" + textwrap.indent(TRAIN, "    "),
}


@pytest.mark.whole(but=("explicit-two in one*", "explicit-a name*", "explicit-in functions only", "star-two in one*"))
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("style", ["explicit", "star"])
def test_a_program_runs_as_it_is_converted(tmp_path: Path, name: str, style: str) -> None:
    files = {path: text.encode() for path, text in PROGRAMS[name].items()}
    config = Config(import_style=style)
    converted = {path: result.after for path, result in convert_folder(files, config).items()}
    assert {path: result.after for path, result in convert_folder(converted, config).items()} == converted
    for path, data in converted.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    done = checked(fork_server.python(["train.py"], plain_environment(), tmp_path))
    assert "trained 6.0" in done.stdout


def test_a_package_runs_its_own_file_first(tmp_path: Path) -> None:
    converted = {p: r.after for p, r in convert_folder({p: t.encode() for p, t in PACKAGE.items()}, Config()).items()}
    (tmp_path / "net").mkdir()
    for path, data in converted.items():
        (tmp_path / path).write_bytes(data)
    command = [sys.executable, "-m", "net.train"]
    done = subprocess.run(command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, check=False)
    assert "trained 6.0" in checked(done).stdout
    assert {p: r.after for p, r in convert_folder(converted, Config()).items()} == converted
