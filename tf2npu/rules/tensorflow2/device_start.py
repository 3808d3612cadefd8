"""The start of the NPU in a script for TensorFlow 2 that is run."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.dialect import ADAPTER2, dialect_of
from tf2npu.frameworks.tensorflow2.framework import ALIAS, FRAMEWORK
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.entry_block import (
    command_functions,
    entry_guard,
    insert_after_imports,
    insert_behind,
    start_in_function,
    start_in_guard,
)
from tf2npu.scanner.imports import reaches
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
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
    late = _late_imports(script)
    if len(late) > 1:
        first = script.tree.span(late[0][0])
        site.fix.site = first
        site.manual(
            "Several functions import TensorFlow: import npu_device as npu above them, and call npu.open().as_default() before "
            "the first of them runs."
        )
        return
    if late:
        _open_behind(site, *late[0])
    else:
        _open(site)
    if not site.fix.changes:
        site.fix.symbols.clear()  # nothing but imports, so there is nothing to start for
        return
    site.fix.site = (site.fix.changes[0].start,) * 2
    site.fixed("The NPU is opened before TensorFlow is used; options (npu.global_options()) go above this line.")


def _late_imports(script: Script) -> list[tuple[cst.CSTNode, Scope]]:
    """The imports of TensorFlow, where all of them stand in functions."""
    found: list[tuple[cst.CSTNode, Scope]] = [
        (node, scope) for node, scope in script.walked.imports if reaches(script, FRAMEWORK, node)
    ]
    return found if all(scope.function is not None for _, scope in found) else []


def _open_behind(site: Site, node: cst.CSTNode, scope: Scope) -> None:
    """Open the NPU behind the one import, which a function makes."""
    line: Any = site.script.walked.parents.get(id(node))
    if isinstance(line, cst.SimpleStatementLine):
        site.fix.symbols.append((ALIAS, scope))
        insert_behind(site, line, [_line(site)])


def _open(site: Site) -> None:
    """Open the NPU behind the imports; in a file that others import only where it is the one that is run."""
    script = site.script
    site.fix.symbols.append((ALIAS, site.scope))
    guard, functions = entry_guard(script), command_functions(script)
    if script.path not in script.project.imported or (guard is None and not functions):
        insert_after_imports(site, [_line(site)], lambda statement: _uses_tensorflow(script, statement))
        return
    for function in functions:
        start_in_function(site, function, [_line(site)])
    if guard is not None:
        start_in_guard(site, guard, [_line(site)])


def _uses_tensorflow(script: Script, statement: cst.CSTNode) -> bool:
    """Whether a statement calls something of TensorFlow when it runs, as a try block that looks for a device does."""
    calls = script.calls_in(*script.tree.span(statement))
    return any((script.name_of(call.func, scope) or "").startswith("tensorflow.") for call, scope in calls)


def _line(site: Site) -> str:
    return f"{site.script.local_name(ALIAS)}.open().as_default()"
