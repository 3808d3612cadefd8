"""Checkpoints that real MindSpore has written are read; the fixture is one of MindSpore 2.10."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mindspore import context
from mindspore.train.serialization import load_checkpoint

from tests.legs.mindspore import checkpoints
from tests.legs.mindspore.recordings import FIXTURES, read

LOGITS = read("checkpoint.npz")["lenet"]["logits"]
FILE = str(FIXTURES / "lenet_small.ckpt")


def test_a_checkpoint_of_mindspore_gives_its_logits() -> None:
    context.set_context(mode=context.GRAPH_MODE)
    np.testing.assert_allclose(checkpoints.logits_of(FILE), LOGITS, rtol=0, atol=1e-6)


def test_a_checkpoint_of_ours_holds_what_one_of_mindspore_holds(tmp_path: Path) -> None:
    context.set_context(mode=context.GRAPH_MODE)
    np.testing.assert_allclose(checkpoints.write(str(tmp_path / "ours.ckpt")), LOGITS, rtol=0, atol=1e-6)
    ours, theirs = load_checkpoint(str(tmp_path / "ours.ckpt")), load_checkpoint(FILE)
    assert list(ours) == list(theirs)
    for name, parameter in theirs.items():
        np.testing.assert_array_equal(ours[name].asnumpy(), parameter.asnumpy(), err_msg=name)
