"""Optimizers of native Keras: those of tf.keras begin with other values, and take other arguments by their position.

Source: signatures of Keras 2.2.5 and 2.3.1 beside tf.keras of TensorFlow 1.15.
"""

from __future__ import annotations

import ast

from tf2npu.frameworks.tensorflow1.native_keras.keras1_calls import CallChanges, Unclear

_SAME_BEGIN = {"SGD": 2, "RMSprop": 2, "Adam": 4, "Adagrad": 1, "Adadelta": 3, "Adamax": 4, "Nadam": 4}
"""Optimizers -> how many arguments both take at the same positions."""
_POSITIONS = {
    "SGD": ("lr", "momentum", "decay", "nesterov"),
    "RMSprop": ("lr", "rho", "epsilon", "decay"),
    "Adam": ("lr", "beta_1", "beta_2", "epsilon", "decay", "amsgrad"),
    "Adagrad": ("lr", "epsilon", "decay"),
    "Adadelta": ("lr", "rho", "epsilon", "decay"),
    "Adamax": ("lr", "beta_1", "beta_2", "epsilon", "decay"),
    "Nadam": ("lr", "beta_1", "beta_2", "epsilon", "schedule_decay"),
}
_RATES = {"Adagrad": "0.01", "Adadelta": "1.0", "Adamax": "0.002", "Nadam": "0.002"}
"""Optimizers of which native Keras has another learning rate by default, and which."""
_START = "initial_accumulator_value"


def change_optimizer(changes: CallChanges, name: str) -> None:
    """Write out what native Keras has by default and tf.keras not.  Raises: Unclear."""
    args, words = changes.call.args, changes.keywords
    if any(isinstance(arg, ast.Starred) for arg in args) or len(changes.call.keywords) > len(words):
        if name in _RATES:
            raise Unclear(f"arguments of {name} that the call does not show")
        return
    for number, arg in enumerate(args[_SAME_BEGIN[name] :], _SAME_BEGIN[name]):
        start, _ = changes.span(arg)
        changes.changes.append((start, start, f"{_POSITIONS[name][number]}="))
    added = []
    if name in _RATES and not args and not {"lr", "learning_rate"} & set(words):
        added.append(f"learning_rate={_RATES[name]}")
    if name == "Adagrad" and _START not in words:
        added.append(f"{_START}=0.0")
    if added:
        changes.insert(", ".join(added))


def written_out(text: str) -> str:
    """The optimizer that a text names, where its values differ, as a configuration that tf.keras takes; "" elsewhere."""
    name = next((one for one in _RATES if one.lower() == text.lower()), "")
    if not name:
        return ""
    start = f", '{_START}': 0.0" if name == "Adagrad" else ""
    return f"{{'class_name': '{name}', 'config': {{'learning_rate': {_RATES[name]}{start}}}}}"
