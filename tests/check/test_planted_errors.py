"""Errors that were planted are named by a check; `python -m benchmarks.planted_checks` looks at all forty of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.forked_check import checked
from tests.check.plant import clean, judged
from tests.check.plants import PLANTS
from tests.how_many import some

CHOSEN = (
    "dense_session LeakyRelu conversion", "dense_session y conversion", "conv_norm_session AvgPool conversion",
    "conv_norm_session Momentum.momentum conversion", "estimator_classes Mul_1.y conversion",
    "monitored_pairs gradients.embedding.IdentityN_grad.damping.y conversion", "dense_session product overflow",
    "estimator_classes gradients.back_grad.Mul precision", "monitored_autoencoder Momentum.update_encoder.ApplyMomentum kernel",
    "keras_conv first.Relu fusion", "dense_session folded folding",
)  # fmt: skip
"""Of each cause one at least, forward and backward, of each kind of script."""
BY_NAME = {plant.name: plant for plant in PLANTS}


@pytest.mark.parametrize("name", some(CHOSEN, 4))
def test_node_line_and_cause_of_a_planted_error_are_named(name: str, tmp_path: Path):
    found = judged(BY_NAME[name], tmp_path)
    assert found.has_node and found.has_line and found.has_cause, f"{found}\n{found.checked.text}"
    assert found.checked.code == 1


def test_there_are_forty_of_every_cause():
    assert len(BY_NAME) == len(PLANTS) == 40
    assert {plant.cause for plant in PLANTS} == {"conversion", "kernel", "fusion", "folding", "precision", "overflow"}
    assert len({plant.script for plant in PLANTS}) >= 10


@pytest.mark.whole(but=("keras_dense",))
@pytest.mark.parametrize("script", ["recurrent_session", "keras_dense"])
def test_a_script_without_an_error_agrees(script: str, tmp_path: Path):
    found = clean(script, tmp_path)
    assert found.code == 0, found.text


@pytest.mark.whole
def test_the_file_that_a_check_wrote_mends_the_run(tmp_path: Path):
    plant = BY_NAME["dense_session product overflow"]
    before = judged(plant, tmp_path)
    names = [file for mode in before.checked.document["modes"] for file in mode["files"]]
    assert names == ["customize_dtypes.cfg"]
    file = tmp_path / "check" / names[0]
    script = tmp_path / "project/dense_session.py"
    after = checked(script, (), tmp_path / "again", modes=[plant.mode], pairs=[f"customize_dtypes={file}"])
    assert after.code == 0, after.text
