"""Calls with the arguments of Keras 1, as tf.keras takes them. What is changed is what Keras 2 itself changes when it runs.

Source: behaviour of Keras 2.2.5 (its legacy interface).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable

from tf2npu.findings import Edit
from tf2npu.frameworks.tensorflow1.native_keras.names import keras1_keywords
from tf2npu.frameworks.tensorflow1.native_keras.source_names import Placed
from tf2npu.scanner.text.edits import spliced_range

ORDERINGS = {"tf": "'channels_last'", "th": "'channels_first'", "default": "None"}
_IMPLEMENTATIONS = {"cpu": "0", "mem": "1", "gpu": "2"}
_SIZES = {"2D": ("nb_row", "nb_col"), "3D": ("kernel_dim1", "kernel_dim2", "kernel_dim3")}
_WITH_INPUT_DIM = frozenset({"LSTM", "GRU", "SimpleRNN", "Conv1D", "Convolution1D"})
_MERGES = {"sum": "add", "mul": "multiply", "concat": "concatenate", "ave": "average", "max": "maximum"}
_OF_METHODS = {
    "fit": {"nb_epoch": "epochs"},
    "fit_generator": {
        "nb_epoch": "epochs",
        "nb_val_samples": "validation_steps",
        "nb_worker": "workers",
        "pickle_safe": "use_multiprocessing",
        "max_q_size": "max_queue_size",
        "samples_per_epoch": "steps_per_epoch",
    },
    "evaluate_generator": {
        "val_samples": "steps",
        "nb_worker": "workers",
        "pickle_safe": "use_multiprocessing",
        "max_q_size": "max_queue_size",
    },
    "predict_generator": {
        "val_samples": "steps",
        "nb_worker": "workers",
        "pickle_safe": "use_multiprocessing",
        "max_q_size": "max_queue_size",
    },
}
KERAS1_ONLY = frozenset({
    "nb_filter", "nb_row", "nb_col", "kernel_dim1", "kernel_dim2", "kernel_dim3", "border_mode", "dim_ordering", "W_regularizer",
    "b_regularizer", "U_regularizer", "W_constraint", "b_constraint", "subsample", "subsample_length", "filter_length",
    "pool_length", "inner_init", "inner_activation", "dropout_W", "dropout_U", "consume_less", "forget_bias_init", "nb_epoch",
    "samples_per_epoch", "nb_val_samples",
})  # fmt: skip
"""Keywords that nothing of Keras 2 has."""


class Unclear(Exception):
    """An argument of Keras 1 that nothing takes the place of; the text names it."""


class CallChanges:
    """Changes of the arguments of one call."""

    def __init__(self, text: str, call: ast.Call, span: Callable[[Placed], tuple[int, int]]) -> None:
        self.text = text
        self.call = call
        self._span = span
        self.keywords = {word.arg: word for word in call.keywords if word.arg is not None}
        self.changes: list[tuple[int, int, str]] = []

    def span(self, node: Placed) -> tuple[int, int]:
        """The offsets at which a node begins and ends, in characters."""
        return self._span(node)

    def source(self, node: Placed) -> str:
        """The text of a node."""
        return self.text[slice(*self.span(node))]

    def rename(self, old: str, new: str) -> None:
        """Give a keyword another name."""
        if new in self.keywords:
            raise Unclear(f"{old} and {new} in one call")
        start, _ = self.span(self.keywords[old])
        self.changes.append((start, start + len(old), new))

    def put(self, word: ast.keyword, new: str) -> None:
        """Write another argument in the place of one."""
        self.changes.append((*self.span(word), new))

    def drop(self, word: ast.keyword) -> None:
        """Leave out an argument, with the comma beside it."""
        start, end = self.span(word)
        inside = self.text[end : self.span(self.call)[1] - 1]
        before = self.text[:start].rstrip()
        if before.endswith(","):
            self.changes.append((len(before) - 1, end, ""))
        elif inside.lstrip().startswith(","):
            comma = end + inside.index(",") + 1
            self.changes.append((start, comma + len(self.text[comma:]) - len(self.text[comma:].lstrip(" ")), ""))
        else:
            self.changes.append((start, end, ""))

    def insert(self, words: str) -> None:
        """Add keyword arguments, behind the positional ones."""
        if self.call.args:
            _, end = self.span(self.call.args[-1])
            self.changes.append((end, end, f", {words}"))
            return
        at = self.text.index("(", self.span(self.call.func)[1]) + 1
        self.changes.append((at, at, f"{words}, " if self.call.keywords else words))

    def together(self, nodes: list[ast.expr], name: str, words: list[ast.keyword]) -> None:
        """Make one tuple of arguments that stand behind each other. words: those of them that are keywords."""
        if self._have_something_between(nodes, words):
            raise Unclear(f"{name} of arguments that stand apart")
        first, last = self.span(nodes[0])[0], self.span(nodes[-1])[1]
        start = self.span(words[0])[0] if len(words) == len(nodes) else first
        opening = f"{name}=(" if len(words) == len(nodes) else "("
        self.changes.append((start, first, opening))
        for word in words:
            at, value = self.span(word)[0], self.span(word.value)[0]
            if at > start:
                self.changes.append((at, value, ""))
        self.changes.append((last, last, ")"))

    def named(self) -> str:
        """The arguments that go and those that come: by their names, or by their values where they have none."""
        start, end = self.span(self.call)
        edits = [Edit(*change, "") for change in sorted(self.changes)]
        new = ast.parse(f"({spliced_range(self.text, edits, start, end)})", mode="eval").body
        was, became = _arguments(self.call), _arguments(new)
        gone, come = (list(dict.fromkeys(name or value for name, value in one)) for one in (was - became, became - was))
        return " -> ".join(", ".join(names) for names in (gone, come) if names)

    def _have_something_between(self, nodes: list[ast.expr], words: list[ast.keyword]) -> bool:
        own = {id(node) for node in nodes}
        arguments = [*self.call.args, *(word.value for word in self.call.keywords)]
        places = [number for number, node in enumerate(arguments) if id(node) in own]
        return places != list(range(places[0], places[0] + len(nodes)))


def _arguments(node: ast.AST) -> Counter[tuple[str | None, str]]:
    if not isinstance(node, ast.Call):
        return Counter()
    words = [(word.arg, ast.unparse(word.value)) for word in node.keywords]
    return Counter([*((None, ast.unparse(value)) for value in node.args), *words])


def change_layer(changes: CallChanges, name: str) -> None:
    """Bring the arguments of a class of Keras 1 to those of tf.keras.  Raises: Unclear."""
    renamed = keras1_keywords().get(name, {})
    words = changes.keywords
    _change_sizes(changes, name)
    _change_input(changes, name)
    if name == "BatchNormalization" and "mode" in words:
        if not _is_constant(words["mode"].value, 0):
            raise Unclear("mode of BatchNormalization")
        changes.drop(words["mode"])
    if name == "Conv2DTranspose" and "output_shape" in words:
        changes.drop(words["output_shape"])  # tf.keras, as Keras 2, works it out
    if "forget_bias_init" in words:
        if not _is_constant(words["forget_bias_init"].value, "one"):
            raise Unclear("forget_bias_init")
        changes.put(words["forget_bias_init"], "unit_forget_bias=True")
    for old in [word for word in words if word in renamed]:
        values = ORDERINGS if old == "dim_ordering" else _IMPLEMENTATIONS if old == "consume_less" else None
        if values is None:
            changes.rename(old, renamed[old])
            continue
        value = words[old].value
        if not isinstance(value, ast.Constant) or value.value not in values:
            raise Unclear(old)
        changes.put(words[old], f"{renamed[old]}={values[value.value]}")
    done = {*renamed, *_SIZES["2D"], *_SIZES["3D"], "forget_bias_init"}
    left = [word for word in words if word in KERAS1_ONLY and word not in done]
    if left or (name == "Embedding" and "dropout" in words):
        raise Unclear(f"{', '.join(left or ['dropout'])} of {name}")


def _change_sizes(changes: CallChanges, name: str) -> None:
    """Rows and columns of a filter become its size."""
    sizes = _SIZES.get(name.removesuffix("Transpose")[-2:], ())
    if not sizes or not name.startswith(("Conv", "Separable")):
        return
    args, words = changes.call.args, changes.keywords
    named = [words[size] for size in sizes if size in words]
    positional = args[1 : 1 + len(sizes) - len(named)]
    if any(isinstance(arg, ast.Starred) for arg in args):
        if named:
            raise Unclear(named[0].arg or "")
        return
    if not named and len(args) != 1 + len(sizes):
        if len(args) > 2:
            raise Unclear(f"positional arguments of {name}")
        return
    if len(named) + len(positional) != len(sizes) or [word.arg for word in named] != list(sizes[len(positional) :]):
        raise Unclear(f"sizes of {name}")
    if positional and isinstance(positional[0], (ast.Tuple, ast.List)):
        raise Unclear(f"positional arguments of {name}")
    changes.together([*positional, *(word.value for word in named)], "kernel_size", named)


def _change_input(changes: CallChanges, name: str) -> None:
    """The length and width of sequences become their shape."""
    words = changes.keywords
    if name not in _WITH_INPUT_DIM or "input_dim" not in words:
        return
    length = changes.source(words["input_length"].value) if "input_length" in words else "None"
    changes.put(words["input_dim"], f"input_shape=({length}, {changes.source(words['input_dim'].value)})")
    if "input_length" in words:
        changes.drop(words["input_length"])


def change_merge(changes: CallChanges) -> None:
    """`merge(layers, mode='concat')`, where `merge` is the module that has the functions of Keras 2.  Raises: Unclear."""
    words = changes.keywords
    mode = words.get("mode")
    given = mode.value if mode is not None else changes.call.args[1] if len(changes.call.args) == 2 else None
    value = given.value if isinstance(given, ast.Constant) else "sum" if given is None else None
    if value not in _MERGES or set(words) - {"mode", "concat_axis", "name"} or len(changes.call.args) > 2:
        raise Unclear("mode of merge")
    end = changes.span(changes.call.func)[1]
    changes.changes.append((end, end, f".{_MERGES[value]}"))
    if mode is not None:
        changes.drop(mode)
    elif given is not None:
        changes.changes.append((changes.span(changes.call.args[0])[1], changes.span(given)[1], ""))
    if "concat_axis" in words:
        if value == "concat":
            changes.rename("concat_axis", "axis")
        else:
            changes.drop(words["concat_axis"])


def change_method(changes: CallChanges, method: str) -> None:
    """Bring the arguments of a model's method to those of tf.keras.  Raises: Unclear."""
    renamed = _OF_METHODS[method]
    for old in [word for word in changes.keywords if word in renamed]:
        changes.rename(old, renamed[old])
        if old == "samples_per_epoch":
            _count_steps(changes)


def _count_steps(changes: CallChanges) -> None:
    """Samples become batches, where the generator has a batch size."""
    args, words = changes.call.args, changes.keywords
    generator = args[0] if args else words["generator"].value if "generator" in words else None
    if isinstance(generator, ast.Name):
        value = words["samples_per_epoch"].value
        start, end = changes.span(value)
        is_simple = isinstance(value, (ast.Name, ast.Constant, ast.Attribute, ast.Call))
        text = changes.source(value)
        size = f" // getattr({generator.id}, 'batch_size', 1)"
        changes.changes.append((start, end, f"{text if is_simple else f'({text})'}{size}"))
        return
    raise Unclear("samples_per_epoch with a generator that is made in the call")


def is_keras1_method(method: str, words: list[ast.keyword]) -> bool:
    """Whether a call of a method has arguments of Keras 1."""
    return any(word.arg in _OF_METHODS.get(method, ()) for word in words)


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == value
