"""Wrong restores, assigns, feeds and fetches: the device raises what TensorFlow raises, in its words, or gives what it gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.session import run_log
from tests.one_item import together
from tests.runtime.device import device_session
from tests.runtime.wrong_uses import USES, write_checkpoints

LEAST = 120
"""Uses that TensorFlow refuses."""

BEYOND_THE_UPDATES = "TensorFlow's kernel reads on behind the memory of the updates: what it writes is nobody's number"
GRAPPLER_FORGETS = "Grappler knows the shape and drops the read; without it TensorFlow raises what the device raises"
DECLARED = "the shape is declared, so no run needs the variable for it; TensorFlow keeps the read of a ref variable all the same"
NAMES_THE_SWITCH = "TensorFlow names the Switch before the op, the device the variable"
RIGHT_TO_DIFFER: dict[str, tuple[str, str]] = {
    "scatter_update of narrow updates, resource": ("Must have updates.shape", BEYOND_THE_UPDATES),
    "scatter_add of narrow updates, resource": ("Must have updates.shape", BEYOND_THE_UPDATES),
    "shape without a value, resource": ("Could not find variable v.", GRAPPLER_FORGETS),
    "assert without a value, resource": ("Could not find variable v.", GRAPPLER_FORGETS),
    "shape without a value, ref": ("[3]", DECLARED),
    "assign_add without a value in a branch that is taken, ref": ("Attempting to use uninitialized value v", NAMES_THE_SWITCH),
}
"""Begin of the device's message, or its result, and the reason that it is right."""

_PLACES = re.compile(
    r"""\n*Original\ stack\ trace\ for\ .*  # what built the node, to the end
    |\n\n(?:Original\ )?(?:Stack|stack).*
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE_OF_PLACE = re.compile(
    r"\s*\[\[\{*node |Detected at node|Node: |  |Graph execution error|\t|$|\d+ derived errors|.*root error"
)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+|/job:localhost/replica:0/task:0/device:CPU:0|, node name: .*|\(\d+\) [A-Z_]+: ")


def essence(error: BaseException) -> str:
    """A message without what tells the place: traces, names of nodes behind it, addresses, devices.

    Wrong shapes, types, indices and names of files stay.
    """
    text = error.message if isinstance(error, tf.errors.OpError) else str(error)
    lines = [line for line in _PLACES.sub("", text).split("\n") if not _LINE_OF_PLACE.match(line)]
    return "\n".join(_ADDRESS.sub("", line).strip() for line in lines)


def outcome(name: str, is_device: bool, folder: Path) -> tuple[Any, ...]:
    """("raised", class, essence), or ("gave", what the use returned)."""
    with tf.Graph().as_default() as graph, (device_session if is_device else tf.Session)(graph=graph) as session:
        try:
            return "gave", USES[name](session, folder)
        except Exception as error:
            return "raised", type(error), essence(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("checkpoints")
    write_checkpoints(made)
    return made


@together("name", USES, by=lambda name: name.split(" ")[0])
def test_as_on_tensorflow(name: str, folder: Path) -> None:
    theirs, mine = (outcome(name, is_device, folder) for is_device in (False, True))
    if name in RIGHT_TO_DIFFER:
        assert str(mine[-1]).startswith(RIGHT_TO_DIFFER[name][0]) and str(mine) != str(theirs)
        return
    assert mine[0] == theirs[0], f"{mine} is not {theirs}"
    if mine[0] == "raised":
        assert mine == theirs
    else:
        np.testing.assert_equal(mine[1], theirs[1])


@pytest.mark.parametrize("shape", [[4], [], [3, 1], [2, 5], [3]])
def test_a_resource_variable_of_another_shape_is_told_once_in_the_run_log(shape: list[int], folder: Path) -> None:
    run_log().clear()
    with tf.Graph().as_default(), device_session() as session:
        made = [tf.get_variable(name, shape, use_resource=True) for name in ("v", "second")]
        saver = tf.train.Saver({"v": made[0]})
        for _ in range(2):
            saver.restore(session, str(folder / "good"))
        session.run(made[1].initializer)
        assert session.run(made[0]).shape == (3,)
    told = [line for line in run_log().digest() if "shapes: " in line]
    was = "[" + ",".join(map(str, shape)) + "]"
    assert len(told) == int(shape != [3])
    assert all(f"v is declared {was} and was given [3]: TensorFlow lets" in line for line in told)


def test_several_variables_of_other_shapes_are_one_line(folder: Path) -> None:
    """A variable of open shape may have any."""
    run_log().clear()
    with tf.Graph().as_default(), device_session() as session:
        made = tf.Variable(tf.placeholder_with_default(np.zeros(2, np.float32), None), validate_shape=False, use_resource=True)
        others = [tf.get_variable(name, [n], use_resource=True) for n, name in ((4, "v"), (5, "w"))]
        session.run(made.initializer)
        tf.train.Saver(others).restore(session, str(folder / "good"))
    (told,) = [line for line in run_log().digest() if "shapes: " in line]
    assert "and was given" in told and "and 1 more variable: " in told and "Variable" not in told


@pytest.mark.whole
def test_how_many_there_are(record_property: Any, folder: Path) -> None:
    raising = [name for name in USES if outcome(name, False, folder)[0] == "raised"]
    record_property("figure", f"wrong uses: {len(USES)}, of which TensorFlow refuses {len(raising)}")
    assert len(raising) >= LEAST
