"""Layers of Keras train on the device as on TensorFlow, and nothing of them but the input runs on the host."""

from __future__ import annotations

import re

import pytest

from npu_runtime.analysis.host_only_ops import is_by_nature
from tests.legs.tf2 import sides
from tests.legs.tf2.agreement import difference
from tests.legs.tf2.case import TRAINED
from tests.legs.tf2.child import said_by

QUICK = ("random_flip", "random_rotation_wrap", "random_crop", "augmentation", "embedding_masked", "noise", "MaxPooling3D")
"""Layers of `make test`: those that draw numbers or turn images, which no network of the leg does."""
ON_HOST = re.compile(r"on the host: (.*)")


def unlike(names: tuple[str, ...]) -> list[str]:
    """A line for each layer that gives something else on the device, and for each reason for the host that is a limit."""
    theirs, ours = (said_by("train_layers.py", side, *names) for side in (sides.PLAIN, sides.DEVICE))
    assert theirs.lines and not theirs.code and not ours.code, theirs.log[-2000:] + ours.log[-2000:]
    raised = [line for line in theirs.lines if "raises" in line]
    assert not raised, raised
    found = {line["case"]: line for line in ours.lines}
    lines = [difference(line["case"], line, found.get(line["case"]), TRAINED) for line in theirs.lines]
    return [line for line in lines if line] + [why for why in ON_HOST.findall(ours.log) if not is_by_nature(why)]


def test_layers_train_as_on_tensorflow() -> None:
    assert not unlike(QUICK)


@pytest.mark.whole
def test_all_layers_train_as_on_tensorflow() -> None:
    assert not unlike(())


def test_a_loop_over_an_iterator_is_computed_on_the_device() -> None:
    """The epoch of a function of its own, whose elements the host hands over."""
    log = said_by("run_cases.py", sides.DEVICE, "data", "epoch_in_a_function").log
    assert (share := re.search(r"([0-9.]+) % of \S+ floating-point operations on the device", log)), log[-2000:]
    assert float(share.group(1)) >= 98
    assert "on TensorFlow as a whole" not in log
