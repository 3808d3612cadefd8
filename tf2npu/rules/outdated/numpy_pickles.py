"""Arrays of Python objects in files, which NumPy reads only where it is asked to."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.old_libraries import is_guarded, takes_part
from tf2npu.scanner.sites import Call

_IMPORT = "import numpy as np\nimport tensorflow as tf\n"


@rule(
    id="NPU991",
    title="Pickled array",
    once=True,
    matches=("numpy.load",),
    why="NumPy 1.16.3 and later refuse arrays of objects unless allow_pickle=True is given, as a pickle can run any code.",
    source="NumPy release notes of 1.16.3: allow_pickle defaults to False",
    examples=(
        Example.same(
            f"{_IMPORT}weights = np.load('vgg16.npy', encoding='latin1').item()",
            level="info",
            write=f"{_IMPORT}weights = np.load('vgg16.npy', encoding='latin1', allow_pickle=True).item()",
        ),
        Example.same(f"{_IMPORT}weights = np.load('vgg16.npy')[()]", level="info"),
        Example.same(f"{_IMPORT}weights = np.load('vgg16.npy', allow_pickle=True).item()", note="asked for"),
        Example.same(f"{_IMPORT}x = np.load('x.npy')", note="an array of numbers, for all that is seen"),
        Example.same("import numpy as np\nweights = np.load('vgg16.npy').item()", note="nothing to do with TensorFlow"),
    ),
)
def pickled_array(call: Call) -> None:
    """Says of files that hold a dictionary or a list what reading them takes."""
    is_open = call.arg("allow_pickle", 2) is None and not call.has_star_args and _gives_an_object(call)
    if is_open and takes_part(call) and not is_guarded(call):
        call.info("If the file holds a dictionary or a list and you trust it, give allow_pickle=True: NumPy 1.16.3 wants it.")


def _gives_an_object(call: Call) -> bool:
    """Whether the one object is taken out of the array, as of a dictionary that was saved."""
    around: Any = call.script.walked.parents.get(id(call.node))
    if isinstance(around, cst.Attribute):
        return around.attr.value == "item"
    return isinstance(around, cst.Subscript) and call.source(around).endswith("[()]")
