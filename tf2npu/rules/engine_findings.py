"""Rules for what the converter itself reports about a file or a site; they have no site to look at."""

from __future__ import annotations

from typing import Any

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule


@rule(
    id="NPU100",
    title="npu_bridge import",
    on="engine",
    why="Importing npu_bridge.npu_init makes every later session of the process an NPU session, and binds the names used.",
    source="npu_bridge.npu_init: replaces Session.__init__ on import",
    examples=(
        Example(
            "import tensorflow as tf\nif __name__ == '__main__':\n    tf.compat.v1.app.run()",
            "import npu_bridge.npu_init  # noqa: F401  puts sessions on the NPU\n"
            "import tensorflow as tf\nif __name__ == '__main__':\n    tf.compat.v1.app.run()",
        ),
        Example.same("import math\nif __name__ == '__main__':\n    print(math.pi)", note="does not reach TensorFlow"),
        Example.same(
            "import npu_bridge.npu_init\nimport tensorflow as tf\nif __name__ == '__main__':\n    tf.app.run()",
            note="there already",
        ),
    ),
)
def npu_import(site: Any) -> None:
    """Adds one import of npu_bridge before the first statement that imports TensorFlow, in files that need it."""


@rule(
    id="NPU900",
    title="File not converted",
    on="engine",
    why="A file that cannot be parsed is copied as it is, so that the other files of the project are still converted.",
    done_when="`python -m py_compile` reads the file without an error, and the next `tf2npu convert` converts it.",
    source="Python language reference, lexical analysis and PEP 263",
    examples=(
        Example.same("print 'hello'", note="Python 2 source", level="skipped"),
        Example.same("x = (", note="does not parse", level="skipped"),
    ),
)
def file_not_converted(site: Any) -> None:
    """Reports a file that could not be read, parsed or converted, with the place and the reason."""


@rule(
    id="NPU992",
    title="Import of nothing",
    on="engine",
    why="A script whose import finds no file or no such name ends before it does anything, on the NPU as anywhere else.",
    done_when="`tf2npu run` passes the imports of the script.",
    source="Python language reference, the import statement",
    examples=(
        Example.same(
            "try:\n    from .layers import dense\nexcept ImportError:\n    dense = None\nimport tensorflow as tf\n"
            "if __name__ == '__main__':\n    print(dense)",
            note="has another way",
        ),
        Example.same("from .layers import dense", note="no script that is run"),
        Example.same(
            "import layers\nimport tensorflow as tf\nif __name__ == '__main__':\n    layers.train()",
            note="a single file is converted, so that what stands beside it is not seen",
        ),
    ),
)  # fmt: skip
def import_of_nothing(site: Any) -> None:
    """Reports an import, in a file that an entry script loads, of a file or a name that the project does not have.

    Where pip has the module, it says what to install.
    """


_PROGRAM = (
    "import tensorflow as tf\nnum_hidden, n = 8, 20\nrate = 0.1\nx = tf.placeholder(tf.float32, [2, 3, 4])\n"
    "cell = tf.nn.rnn_cell.LSTMCell({})\nout, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\nloss = tf.reduce_mean(out)\n"
    "if __name__ == '__main__':\n    print(loss, state, rate)"
)


@rule(
    id="NPU995",
    title="Name that nothing defines",
    on="engine",
    once=True,
    why="A program that comes to a name without a meaning ends there with a NameError, on the NPU as anywhere else.",
    done_when="`tf2npu run` passes this line without a NameError.",
    source="Python language reference, naming and binding",
    examples=(
        Example.same(
            _PROGRAM.format("num_units"), level="manual", write=_PROGRAM.format("num_hidden"), note="a name that nothing defines"
        ),
        Example.same(
            _PROGRAM.format("n").replace("rate = 0.1", "try:\n    rate = 0.1\nexcept ValueError:\n    raise MyError(n)"),
            note="where something has gone wrong before",
            level="info",
        ),
        Example.same(
            _PROGRAM.format("num_hidden") + "\ntry:\n    text = basestring\nexcept NameError:\n    text = str",
            note="has another way",
        ),
        Example.same(_PROGRAM.format("join('a', 'b')") + "\nfrom os.path import *", note="a star of another package may give it"),
        Example.same("y = tf.ones(num_units)", note="a piece of a program"),
    ),
)
def name_of_nothing(site: Any) -> None:
    """Reports names that no statement, no import and no built-in of Python defines.

    Where other files of the project import a module of Python, or numpy, by the name, it adds that import.
    """


@rule(
    id="NPU901",
    title="Fix not made",
    on="engine",
    why="A fix is not made where it would undo another one, or take out code that something else still relies on.",
    done_when="The place reads as the rule's example does after its change, and `tf2npu run` passes it.",
    source="docs/adding_a_rule.md",
    examples=(
        Example.same("s = tf.Session(config=npu_config_proto())", note="one fix at most, and it is made"),
        Example.same(
            "with tf.contrib.compiler.jit.experimental_jit_scope((wanted := True)):\n    print(wanted)",
            note="what would go gives a name that is used further on",
            level="manual",
        ),
        Example.same("x = f(g(y))", note="nothing to fix"),
    ),
)
def fix_not_made(site: Any) -> None:
    """Reports a fix that was not made, with the reason: convert the place by hand."""


@rule(
    id="NPU902",
    title="Switched off by a comment",
    on="engine",
    why="Comments keep code as it is: `# tf2npu: ignore` its line, `# tf2npu: off` to `# tf2npu: on`, `# tf2npu: ignore-file`.",
    source="docs/adding_a_rule.md",
    examples=(
        Example.same("s = tf.Session()  # tf2npu: ignore[NPU101]", note="kept on request", level="skipped"),
        Example.same("# tf2npu: off\ns = tf.Session()\n# tf2npu: on", note="a block", level="skipped"),
        Example.same("# tf2npu: ignore-file\ns = tf.Session()", note="the whole file", level="skipped"),
    ),
)
def switched_off(site: Any) -> None:
    """Reports a site that a comment kept from being converted."""


@rule(
    id="NPU800",
    title="npu_device import",
    on="engine",
    why="npu_device is the adapter of TensorFlow 2: what starts the NPU, and what ranks do together, are its names.",
    source="TensorFlow 2 adapter porting guide: import npu_device as npu",
    examples=(
        Example(
            "import tensorflow as tf\nimport numpy as np\n@tf.function\ndef f(x):\n    return x\nprint(f(tf.constant(1.0)))",
            "import tensorflow as tf\nimport npu_device as npu\nimport numpy as np\nnpu.open().as_default()\n\n\n@tf.function\n"
            "def f(x):\n    return x\nprint(f(tf.constant(1.0)))",
        ),
        Example.same("@tf.function\ndef f(x):\n    return x", note="imported, not run"),
        Example.same(
            "import npu_device as npu\nimport tensorflow as tf\nnpu.open().as_default()\nprint(tf.function(f)(1.0))",
            note="there already",
        ),
    ),
)
def npu_device_import(site: Any) -> None:
    """Adds one import of npu_device behind the first import of TensorFlow, in scripts for TensorFlow 2 that need it."""


@rule(
    id="NPT100",
    title="torch_npu import",
    on="engine",
    why="torch_npu registers the NPU with PyTorch; since PyTorch 2.5 that happens without an import, but not in older releases.",
    source="Ascend Extension for PyTorch 2.13, migration guide: import torch_npu behind import torch",
    examples=(
        Example(
            "import torch\nimport numpy as np\nx = torch.zeros(3).cuda()\n",
            "import torch\nimport torch_npu  # noqa: F401  registers the NPU\nimport numpy as np\nx = torch.zeros(3).npu()\n",
        ),
        Example.same("import torch\nx = torch.zeros(3)\n", note="no device"),
        Example.same("import torch\nimport torch_npu\nx = torch.zeros(3).npu()\n", note="there already"),
    ),
)
def torch_npu_import(site: Any) -> None:
    """Adds one import of torch_npu behind the first import of PyTorch, in files that are converted for the NPU."""


@rule(
    id="NPU903",
    title="TensorFlow 2 script",
    on="engine",
    why="Its adapter, npu_device, is another one than that of TensorFlow 1: half of each would run on neither.",
    done_when="All files use one adapter: npu_bridge, npu_device, or npu_device.compat.v1 (`--target tf2-compat`).",
    source="TensorFlow 2 adapter porting guide: npu_device.open().as_default()",
    examples=(
        Example.same("@tf.function\ndef step(x):\n    return x", note="nothing to convert", level="info"),
        Example(
            "with tf.GradientTape() as tape:\n    loss = f(x)\nif __name__ == '__main__':\n    print(loss)",
            "import npu_device as npu\nnpu.open().as_default()\nwith tf.GradientTape() as tape:\n    loss = f(x)\n"
            "if __name__ == '__main__':\n    print(loss)",
            level="info",
        ),
        Example.same(
            "import npu_device as npu\nimport tensorflow as tf\nnpu.open().as_default()\ns = tf.compat.v1.Session()",
            note="moved already, by the other adapter",
            level="info",
        ),
    ),
)
def tensorflow_2(site: Any) -> None:
    """Names a script that is written for TensorFlow 2."""


@part_of(
    tensorflow_2,
    on="engine",
    done_when="`--target tf1`, or `dialect` in pyproject.toml, says which TensorFlow the scripts are written for.",
    examples=(
        Example(
            "m = tf.keras.Sequential()\nif __name__ == '__main__':\n    m.fit(x, y)",
            "m = tf.keras.Sequential()\nif __name__ == '__main__':\n"
            "    npu_keras_sess = set_keras_session_npu_config()\n    try:\n        m.fit(x, y)\n"
            "    finally:\n        close_session(npu_keras_sess)",
            level="manual",
        ),
        Example.same("m = tf.keras.Sequential()", config=Config(dialect="tf2"), note="the settings say it"),
        Example.same(
            "m = tf.keras.Sequential()\ndef f():\n    for row in tf.data.Dataset.range(3):\n        m.fit(row)", level="info"
        ),
    ),
)
def either_tensorflow(site: Any) -> None:
    """Asks which TensorFlow a script is written for that runs on both, and says for which it was converted."""


@part_of(
    tensorflow_2,
    on="engine",
    done_when="`--target tf1` converts the script for TensorFlow 1.15.",
    examples=(
        Example(
            "import tensorflow.compat.v1 as tf\ndef f(x):\n    return tf.Session()",
            "from npu_device.compat.v1.npu_init import npu_config_proto\nimport tensorflow.compat.v1 as tf\ndef f(x):\n"
            "    return tf.Session(config=npu_config_proto())",
            config=Config(dialect="tf2-compat"),
        ),
        Example.same(
            "import tensorflow.compat.v1 as tf\ndef f(x):\n    return x", config=Config(dialect="tf2-compat"), note="nothing here"
        ),
    ),
)
def version_1_on_2(site: Any) -> None:
    """Names a script that is converted for TensorFlow 2 with its version 1 behaviour, as `--target tf2-compat` asks."""


@rule(
    id="NPU904",
    title="Comment that switches nothing off",
    on="engine",
    why="A comment that is left behind would hide what comes up there later.",
    source="docs/adding_a_rule.md",
    examples=(
        Example.same("x = 1  # tf2npu: ignore[NPU101]", note="nothing there", level="info"),
        Example.same("s = 1  # tf2npu: off", note="nothing from here on", level="info"),
    ),
)
def unused_comment(site: Any) -> None:
    """Reports a comment for this program that has no effect."""


@rule(
    id="NPU905",
    title="Written for another framework",
    on="engine",
    why="A file without findings would look as if it had been moved to the NPU.",
    done_when="The summary of `tf2npu run` counts sessions on the device for the script that uses this file.",
    source="docs/report.md: nothing is left unsaid",
    examples=(
        Example.same("import jax\nx = jax.numpy.zeros(3)", note="JAX", level="info"),
        Example.same(
            "import torch\nx = torch.zeros(3).cuda()", note="as asked", level="info", config=Config(framework="tensorflow")
        ),
        Example.same("from paddle import nn", note="PaddlePaddle", level="info"),
        Example.same(
            "import sugartensor as tf\ntf.sg_train()",
            note="another package's sessions",
            level="manual",
            write="import npu_bridge.npu_init\nimport sugartensor as tf\ntf.sg_train()",
        ),
        Example.same("import tensorflow as tf\nimport jax\nx = tf.zeros(jax.numpy.zeros(3).shape)", note="uses TensorFlow too"),
        Example.same("from .jax import load", note="the project's own module"),
        Example.same("# import jax\nimport math", note="a comment"),
    ),
)
def other_framework(site: Any) -> None:
    """Says what a file is that is written for a framework which is not converted, or for a package over TensorFlow."""
