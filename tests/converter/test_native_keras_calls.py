"""Calls of native Keras beside what Keras 2.2.5 itself made of them, which tests/fixtures/native_keras/record.py recorded."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tf2npu.frameworks.base import Rewriting
from tf2npu.frameworks.tensorflow1.native_keras.rewriting import rewriting
from tf2npu.scanner.text.rewriting import rewritten_text

RECORDED = json.loads((Path(__file__).parent.parent / "fixtures/native_keras/recorded.json").read_text(encoding="utf-8"))
OPTIMIZERS = RECORDED["optimizers"]


def found_in(source: str) -> Rewriting:
    found = rewriting("m.py", source, ast.parse(source))
    assert found is not None
    return found


def arguments_of(call: str, package: str) -> list[Any]:
    """Positional and named arguments of a call, once it is written for tf.keras."""
    name = call.partition("(")[0]
    source = f"from keras.{package} import {name}\n{call}\n"
    found = found_in(source)
    assert found.obstacles == ()
    got: list[Any] = []
    exec(rewritten_text(source, found).split("\n", 1)[1], {name: lambda *args, **words: got.append([list(args), words])})
    return json.loads(json.dumps(got[0]))


def with_size_at_its_place(arguments: list[Any]) -> list[Any]:
    """The arguments with a size of a filter that is named where it stands without its name."""
    positional, named = arguments
    has_place = len(positional) == 1 and "kernel_size" in named
    return [[*positional, named.pop("kernel_size")], named] if has_place else arguments


@pytest.mark.parametrize("call", RECORDED["calls"])
def test_a_call_gets_the_arguments_that_keras_makes_of_it(call: str) -> None:
    package = "models" if call.startswith("Model(") else "layers"
    assert with_size_at_its_place(arguments_of(call, package)) == RECORDED["calls"][call]


def values_of(name: str, package: str, arguments: list[Any]) -> dict[str, Any]:
    """The settings that an optimizer of Keras or tf.keras gets, by the names of Keras, without those that do nothing."""
    parameters = OPTIMIZERS[name][package]
    positional, named = arguments
    given = dict(zip((parameter for parameter, _ in parameters), positional, strict=False)) | named
    values = {("lr" if key == "learning_rate" else key): value for key, value in {**dict(parameters), **given}.items()}
    values["epsilon"] = values.get("epsilon") or 1e-7
    own = {
        "momentum": 0.0,
        "nesterov": False,
        "decay": 0.0,
        "amsgrad": False,
        "centered": False,
        "initial_accumulator_value": 0.0,
    }
    return {k: v for k, v in values.items() if k != "name" and v != own.get(k) and (k, v) != ("schedule_decay", 0.004)}


@pytest.mark.parametrize(
    ("name", "n_given"), [(name, n) for name in OPTIMIZERS for n in range(min(4, len(OPTIMIZERS[name]["keras"])) + 1)]
)
def test_an_optimizer_keeps_its_values(name: str, n_given: int) -> None:
    given = [0.5, 0.25, 0.125, 0.0625][:n_given]
    if name == "SGD" and n_given == 4:
        given[3] = True
    call = f"{name}({', '.join(map(str, given))})"
    native = values_of(name, "keras", [given, {}])
    assert values_of(name, "tf.keras", arguments_of(call, "optimizers")) == native


@pytest.mark.parametrize(
    "call",
    [
        "Embedding(9, 4, dropout=0.2)",
        "BatchNormalization(mode=2)",
        "LSTM(4, forget_bias_init='zero')",
        "Convolution2D(8, 3, 3, dim_ordering=order)",
        "Convolution2D(8, border_mode='same', nb_col=3)",
        "Convolution2D(nb_filter=8, nb_row=3, border_mode='same', nb_col=3)",
        "Dense(units=4, output_dim=4)",
    ],
)
def test_an_argument_that_nothing_takes_the_place_of_keeps_the_program(call: str) -> None:
    (obstacle,) = found_in(f"from keras.layers import {call.partition('(')[0]}\n{call}\n").obstacles
    assert obstacle.line == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m.fit(x, y, nb_epoch=2)", "m.fit(x, y, epochs=2)"),
        ("m.fit_generator(g, samples_per_epoch=n + 1, nb_epoch=2, nb_val_samples=9)",
         "m.fit_generator(g, steps_per_epoch=(n + 1) // getattr(g, 'batch_size', 1), epochs=2, validation_steps=9)"),
        ("m.compile('adadelta', 'mse')",
         "m.compile({'class_name': 'Adadelta', 'config': {'learning_rate': 1.0}}, 'mse')"),
        ("m.compile(loss='mse', optimizer='adam')", "m.compile(loss='mse', optimizer='adam')"),
        ("d = merge([a, b], mode='concat', concat_axis=1)", "d = merge.concatenate([a, b], axis=1)"),
        ("d = merge([a, b], mode='sum')", "d = merge.add([a, b])"),
    ],
)  # fmt: skip
def test_methods_and_merge(before: str, after: str) -> None:
    source = f"from keras.layers import merge\n{before}\n"
    found = found_in(source)
    assert not found.obstacles and rewritten_text(source, found).splitlines()[1] == after
