"""Arrays of Python objects in files, which NumPy reads only where it is asked to."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.python2_files import is_of_python2
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
        Example(
            f"{_IMPORT}weights = np.load('vgg16.npy', encoding='latin1').item()",
            f"{_IMPORT}weights = np.load('vgg16.npy', encoding='latin1', allow_pickle=True).item()",
        ),
        Example(
            f"{_IMPORT}stored = np.load('vgg16.npy')\nweights = stored[()]",
            f"{_IMPORT}stored = np.load('vgg16.npy', allow_pickle=True)\nweights = stored[()]",
        ),
        Example.same(f"{_IMPORT}weights = np.load('vgg16.npy', allow_pickle=False).item()", note="asked for"),
        Example.same(f"{_IMPORT}x = np.load('x.npy')", note="an array of numbers, for all that is seen"),
        Example.same("import numpy as np\nweights = np.load('vgg16.npy').item()", note="nothing to do with TensorFlow"),
    ),
)
def pickled_array(call: Call) -> None:
    """Reads files that hold a dictionary or a list as NumPy did before 1.16.3."""
    is_open = call.arg("allow_pickle", 2) is None and not call.has_star_args and call.args
    holds_objects = call.arg("encoding", 4) is not None or any(_takes_out(call, use) for use in _uses(call))
    if not is_open or not holds_objects or not takes_part(call) or is_guarded(call):
        return
    call.add_keyword("allow_pickle=True")
    if is_of_python2(call.script) and call.arg("encoding", 4) is None:
        call.add_keyword("encoding='latin1'")
    call.fixed(
        "The file holds Python objects, which NumPy reads with allow_pickle=True alone since 1.16.3. A pickle can run any code: "
        "read no file that you do not trust."
    )


def _uses(call: Call) -> list[Any]:
    """The array where it is used: as it is read, or by the one name that it gets."""
    assignment: Any = call.script.walked.parents.get(id(call.node))
    target = assignment.targets[0].target if isinstance(assignment, cst.Assign) else None
    if not isinstance(target, cst.Name) or len(call.scope.lookup(target.value)) != 1:
        return [call.node]
    owner = call.scope.lookup_scope(target.value)
    return [use for use, scope in call.script.references_to(target.value) if scope.lookup_scope(target.value) is owner]


def _takes_out(call: Call, use: Any) -> bool:
    """Whether the one object is taken out of the array, as of a dictionary that was saved."""
    around: Any = call.script.walked.parents.get(id(use))
    if isinstance(use, cst.Attribute):
        return use.attr.value == "item"
    if isinstance(around, cst.Attribute):
        return around.attr.value == "item"
    return isinstance(around, cst.Subscript) and call.source(around).endswith("[()]")
