"""Names that are suggested for one that is unknown: those that were meant, and none that merely stand beside it."""

from __future__ import annotations

import random

import pytest

from npu_formats.near_names import near_names
from tf2npu.api_support import table
from tf2npu.commands import api_lookup
from tf2npu.engine.convert_file import convert_source

MODULES = ("tensorflow.image", "tensorflow.layers", "tensorflow.losses", "tensorflow.nn", "tensorflow.train")
MEANT = {
    "tf.train.Adam": "tf.train.AdamOptimizer",
    "tf.train.AdamOptimiser": "tf.train.AdamOptimizer",
    "tf.train.GradientDescent": "tf.train.GradientDescentOptimizer",
    "tf.image.resize_bilinaer": "tf.image.resize_bilinear",
    "tf.nn.max_pooling": "tf.nn.max_pool",
    "tf.nn.softmax_crossentropy_with_logits": "tf.nn.softmax_cross_entropy_with_logits",
    "tf.layres.conv2d": "tf.layers.conv2d",
    "tf.layers.conv2D": "tf.layers.conv2d",
    "tf.Sesion": "tf.Session",
    "tf.placholder": "tf.placeholder",
}
WITHOUT_RELATIONS = (
    "tf.image.roi_pooling", "tf.nn.roi_pooling", "tf.nn.roi_align", "tf.image.mosaic_tiles", "tf.nn.frobnicate",
    "tf.train.LookaheadHelper", "tf.layers.squeeze_excite", "tf.losses.dice", "tf.image.mixup", "tf.nn.deformable",
    "tf.losses.triplet_semihard", "tf.train.swa", "tf.nn.group_instance", "tf.image.cutout_random",
)  # fmt: skip
"""Names of other libraries and of papers, which TensorFlow has nothing like."""


def slips() -> list[tuple[str, str, str]]:
    """(module, name, the same with one letter left out, doubled or changed places), as hands make them."""
    chance = random.Random(7)
    names = [api.name for api in table() if api.kind == "function" and api.name.rpartition(".")[0] in MODULES]
    found = []
    for full in names:
        module, _, name = full.rpartition(".")
        place = chance.randrange(1, len(name) - 1) if len(name) > 6 else 0
        if place:
            wrong = chance.choice((
                name[:place] + name[place + 1 :],
                name[:place] + name[place] + name[place:],
                name[: place - 1] + name[place] + name[place - 1] + name[place + 1 :],
            ))  # fmt: skip
            found += [(module, name, wrong)] if wrong != name else []
    return found


def test_a_slip_of_the_hand_is_told_the_name_that_was_meant() -> None:
    made = slips()
    known = {
        module: [api.name.rpartition(".")[2] for api in table() if api.name.rpartition(".")[0] == module] for module in MODULES
    }
    assert len(made) > 150
    assert [
        (wrong, name)
        for module, name, wrong in made
        if wrong not in known[module] and name not in near_names(wrong, known[module], 3)
    ] == []


@pytest.mark.parametrize(("name", "meant"), MEANT.items())
def test_what_people_write_is_told_what_they_meant(name: str, meant: str) -> None:
    assert meant in api_lookup.suggestions(table(), name)


@pytest.mark.parametrize("name", WITHOUT_RELATIONS)
def test_a_name_without_relations_is_likened_to_none(name: str) -> None:
    assert api_lookup.suggestions(table(), name) == []
    messages = [finding.message for finding in convert_source(f"import tensorflow as tf\nx = {name}(a)\n", "m.py").findings]
    assert not [text for text in messages if "look like" in text]
    assert [text for text in messages if name in text]


def test_rows_of_a_pattern_have_the_names_that_were_asked_for() -> None:
    found = api_lookup.entries(table(), "tf.nn.*")
    rows = api_lookup.render(table(), found, "text", "tf.nn.*").splitlines()
    assert len(rows) == len(found) > 120
    assert [row for row in rows if not row.startswith("tf.nn.")] == []
    assert [row.split()[0] for row in rows] == sorted(row.split()[0] for row in rows)
    assert "tf.nn.l2_normalize" in {row.split()[0] for row in rows}  # which the table has as tf.linalg.l2_normalize
