"""Claims on names and calls of earlier releases hold for TensorFlow: they are gone, and their replacements are there."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from tests.one_item import together
from tf2npu.api_support.table import signatures
from tf2npu.rules.outdated.older_tensorflow import LOSSES, OLD_NAMES, PARAMETERS

INVENTORY = Path(__file__).parents[2] / "tools" / "api_table" / "tensorflow_1_15.tsv"
PUBLIC = set(re.findall(r"tensorflow[\w.]*", INVENTORY.read_text(encoding="utf-8")))  # with other spellings


@together("name", sorted(OLD_NAMES))
def test_an_old_name_is_gone(name: str) -> None:
    assert name not in PUBLIC
    module, _, last = name.rpartition(".")
    try:
        found = import_module(module.replace("tensorflow", "tensorflow.compat.v1", 1) if ".python." not in name else module)
    except ImportError:
        return
    assert not hasattr(found, last)


@together("code", sorted({code for code in OLD_NAMES.values() if re.fullmatch(r"tf[\w.]+", code)} - {"tf.contrib"}))
def test_what_is_to_be_written_is_in_1_15(code: str) -> None:
    name = code.replace("tf.", "tensorflow.", 1)
    assert name in PUBLIC or ".python." in name


@pytest.mark.parametrize(
    "call",
    [
        lambda x: tf.concat(1, [x, x]),
        lambda x: tf.split(1, 3, x),
    ],
)
def test_a_call_in_the_old_way_is_refused(call: Callable[[Any], Any]) -> None:
    with tf.Graph().as_default(), pytest.raises((TypeError, ValueError)):
        call(tf.placeholder(tf.float32, [2, 3]))


@together("name", LOSSES)
def test_a_loss_of_1_15_has_a_guard_in_the_place_of_its_first_argument(name: str) -> None:
    """TensorFlow raises ValueError where it is given; 2.15 has none and would take the one for the other."""
    assert signatures()[name].startswith("(_sentinel=None, ")


@together("name", sorted(PARAMETERS))
def test_what_is_renamed_takes_the_arguments_that_are_kept(name: str) -> None:
    """The first parameters of 1.15 are those that the table gives the arguments to, in this order."""
    instead = OLD_NAMES[f"tensorflow.{name}"].replace("tf.", "tensorflow.", 1)
    signature = signatures().get(instead, "")
    given = [name for name in re.findall(r"(\w+)(?:=[^,)]+)?[,)]", signature) if name != "self"]
    wanted = [parameter.rpartition(":")[2] for parameter in PARAMETERS[name]]
    assert not signature or given[: len(wanted)] == wanted
