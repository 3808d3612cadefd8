"""The start of the NPU in a script for TensorFlow 2 that is run."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.dialect import ADAPTER2, dialect_of
from tf2npu.frameworks.tensorflow2.framework import ALIAS, FRAMEWORK
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.start.start_of_script import put_before_use
from tf2npu.scanner.sites import Site

_TF2 = Config(dialect="tf2")
_FIT = "model = tf.keras.Sequential()\nmodel.fit(x, y)"


@rule(
    id="NPU801",
    title="Start of the NPU",
    on="module",
    why="npu_device takes what is made after it is opened: a variable made before would lie on the CPU, and options set later "
    "have no effect.",
    done_when="The log of a run names functions on the device.",
    source="TensorFlow 2 adapter porting guide: npu_device.open().as_default() before TensorFlow is used",
    examples=(
        Example(
            f"import tensorflow as tf\nimport numpy as np\n\n{_FIT}",
            f"import tensorflow as tf\nimport npu_device as npu\nimport numpy as np\n\nnpu.open().as_default()\n{_FIT}",
            config=_TF2,
        ),
        Example(
            "import os\ndef main():\n    import tensorflow as tf\n    print(tf.ones(1))\nif __name__ == '__main__':\n    main()",
            "import os\ndef main():\n    import tensorflow as tf\n    import npu_device as npu\n    npu.open().as_default()\n"
            "    print(tf.ones(1))\nif __name__ == '__main__':\n    main()",
            note="loaded as late as it was",
            config=_TF2,
        ),
        Example.same(
            "import os\ndef f():\n    import tensorflow as tf\n    return tf.ones(2)\ndef g():\n    import tensorflow as tf\n"
            "    return tf.zeros(2)\nif __name__ == '__main__':\n    f(), g()",
            note="which runs first is not known",
            level="manual",
            config=_TF2,
            write="import npu_device as npu\nimport tensorflow as tf\nnpu.open().as_default()\ndef f():\n    return tf.ones(2)\n"
            "if __name__ == '__main__':\n    f()",
        ),
        Example.same(
            "import tensorflow as tf\ndef build():\n    return tf.keras.Sequential()", note="imported, not run", config=_TF2
        ),
        Example.same(
            f"import tensorflow as tf\nimport npu_device as npu\nnpu.open().as_default()\n{_FIT}", note="started", config=_TF2
        ),
    ),
)
def device_start(site: Site) -> None:
    """Opens the NPU, and makes it the default device, before a script that is run uses TensorFlow."""
    script = site.script
    if not script.is_entry or not script.project.is_reaching(script.path, FRAMEWORK.name) or dialect_of(script).api == ADAPTER2:
        return
    line = f"{script.local_name(ALIAS)}.open().as_default()"
    unknown = put_before_use(site, FRAMEWORK, ALIAS, line)
    if unknown is not None:
        site.fix.site = script.tree.span(unknown)
        site.manual(
            "Several functions import TensorFlow: import npu_device as npu above them, and call npu.open().as_default() before "
            "the first of them runs."
        )
    elif site.fix.changes:
        site.fixed(
            "The added line opens the NPU before TensorFlow is used. Write options (npu.global_options()) above the line, if "
            "you have any."
        )
