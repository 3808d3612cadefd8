"""Arguments in the order of TensorFlow before 1.0, which 1.15 takes for others."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.scanner.sites import Call, parameter_of

SWAPPED = {
    "tensorflow.nn.sampled_softmax_loss": ("weights", "biases", "inputs", "labels"),
    "tensorflow.nn.nce_loss": ("weights", "biases", "inputs", "labels"),
    "tensorflow.nn.ctc_loss": ("inputs", "labels", "sequence_length"),
    "tensorflow.nn.weighted_cross_entropy_with_logits": ("logits", "targets", "pos_weight"),
    "tensorflow.nn.log_poisson_loss": ("log_input", "targets", "compute_full_loss"),
}
"""The first parameters of before 1.0, in their order; in 1.15 the labels or targets come before what is computed."""
_LABELS = re.compile(r"label|target|truth|(?:^|\W)y_(?:$|\W)", re.IGNORECASE)
_SPARSE = ("tensorflow.sparse_placeholder", "tensorflow.SparseTensor")
_WHOLE = ("int32", "int64", "tensorflow.int32", "tensorflow.int64")
_DROPOUT = tuple(f"tensorflow.{home}.DropoutWrapper" for home in ("nn.rnn_cell", "contrib.rnn"))


@rule(
    id="NPU987",
    title="Arguments of an earlier TensorFlow",
    matches=tuple(SWAPPED),
    why="Releases before 1.0 took these arguments in another order, so that 1.15 takes one for the other.",
    done_when="`tf2npu run` passes this line, and the first loss is that of the earlier release.",
    source="release notes of TensorFlow 0.11 to 1.0, compared with the signatures of 1.15.0",
    examples=(
        Example(
            "y = tf.placeholder(tf.int64, [None, 1])\nl = tf.nn.nce_loss(w, b, h, y, 64, 9000)",
            "y = tf.placeholder(tf.int64, [None, 1])\n"
            "l = tf.nn.nce_loss(w, b, inputs=h, labels=y, num_sampled=64, num_classes=9000)",
        ),
        Example.same(
            "l = tf.nn.sampled_softmax_loss(w, b, inputs, labels, 64, 9000)",
            level="manual",
            write="l = tf.nn.sampled_softmax_loss(w, b, labels, inputs, 64, 9000)",
        ),
        Example.same("l = tf.nn.sampled_softmax_loss(w, b, labels, inputs, 64, 9000)", note="the order of 1.15"),
        Example.same("l = tf.nn.nce_loss(w, b, p, q, 64, 9000)", note="nothing tells them apart"),
        Example.same("l = tf.nn.ctc_loss(labels=y, inputs=x, sequence_length=n)", note="by name"),
    ),
)
def swapped_labels(call: Call) -> None:
    """Names arguments where the old order shows in their types, and reports it where it shows in their names."""
    old = SWAPPED[call.name]
    at = next(n for n, name in enumerate(old) if name in ("labels", "targets"))
    plain = call.positional_args
    if call.has_star_args or len(plain) <= at or is_guarded(call):
        return None
    computed, labels = plain[at - 1].value, plain[at].value
    if _are_labels(call, labels) and not _are_labels(call, computed):
        parameters = (*old, "num_sampled", "num_classes", "num_true") if len(old) > _OF_CTC else old
        if len(plain) <= len(parameters):
            named = [(arg, parameter_of(call.node, arg, parameters)) for arg in plain[at - 1 :]]
            for arg, name in named:
                call.rename_keyword(arg, name)
            return call.fixed(
                f"Before TensorFlow 1.0 {old[at - 1]} came before {old[at]}; by name ({', '.join(name for _, name in named)}) "
                "each stays what it was."
            )
    if _LABELS.search(call.source(labels)) and not _LABELS.search(call.source(computed)):
        return call.manual(
            f"By its name {call.source(labels)} is {old[at]}, which comes before {old[at - 1]} since TensorFlow 1.0: "
            f"write {old[at - 1]}={call.source(computed)}, {old[at]}={call.source(labels)}.",
        )
    return None


_OF_CTC = 3
"""Old parameters of the losses that sample no classes."""


def _are_labels(call: Call, node: cst.BaseExpression) -> bool:
    """Whether a value is bound to whole numbers that are fed, or to a sparse tensor, which logits and inputs never are."""
    value: Any = bound_value(node, call.scope) if isinstance(node, cst.Name) else node
    if not isinstance(value, cst.Call):
        return False
    made = Call(call.script, "", value, call.scope)
    name, kind = call.resolve(value.func), made.value("dtype", 0)
    is_whole = kind is not None and ((call.resolve(kind) or "") in _WHOLE or call.source(kind).strip("'\"") in _WHOLE)
    return name in _SPARSE or (name == "tensorflow.placeholder" and is_whole)


@part_of(
    swapped_labels,
    matches=("tensorflow.image.resize_images",),
    examples=(
        Example("y = tf.image.resize_images(x, 224, 224)", "y = tf.image.resize_images(x, [224, 224])"),
        Example("y = tf.image.resize_images(x, h, w, 1)", "y = tf.image.resize_images(x, [h, w], 1)"),
        Example.same("y = tf.image.resize_images(x, [224, 224], 1)", note="the order of 1.15"),
        Example.same("y = tf.image.resize_images(x, size, 1)", note="a method of 1.15"),
        Example.same("y = tf.image.resize_images(x, size, method=1)", note="by name"),
    ),
)
def two_sizes(call: Call) -> None:
    """Makes one size of a height and a width, which came one by one before 0.11."""
    plain = call.positional_args
    if call.has_star_args or is_guarded(call):
        return
    if call.arg("new_height") is not None or call.arg("new_width") is not None:
        return call.unsupported("Since TensorFlow 0.11 there is one size: write size=[height, width].")
    if len(plain) < _BOTH or isinstance(plain[1].value, (cst.List, cst.Tuple)):
        return
    has_height = isinstance(plain[1].value, cst.Integer)
    has_width = isinstance(plain[2].value, cst.Integer) and int(plain[2].value.value, 0) > _LAST_METHOD
    if has_height or has_width or len(plain) > _BOTH + 1 or (len(plain) > _BOTH and _is_method(call, plain[3].value)):
        start, end = call.script.tree.span(plain[1].value)[0], call.script.tree.span(plain[2].value)[1]
        call.insert(start, "[")
        call.insert(end, "]")
        return call.fixed("Since TensorFlow 0.11 height and width are one argument, the size.")


_BOTH = 3
"""Arguments with an image, a height and a width."""
_LAST_METHOD = 3
"""tf.image.ResizeMethod.AREA; a width is more."""


def _is_method(call: Call, node: cst.BaseExpression) -> bool:
    """Whether an argument says how to resize, which in 1.15 stands where the width stood."""
    return isinstance(node, cst.Integer) or "ResizeMethod" in call.source(node)


@part_of(
    swapped_labels,
    matches=("tensorflow.reverse",),
    examples=(
        Example("y = tf.reverse(x, [True, False, True])", "y = tf.reverse(x, [0, 2])"),
        Example("y = tf.reverse(x, dims=[False, True])", "y = tf.reverse(x, axis=[1])"),
        Example.same("y = tf.reverse(x, dims=d)", level="unsupported", write="y = tf.reverse(x, axis=[1])"),
        Example.same("y = tf.reverse(x, [0, 2])", note="axes, as 1.15 takes them"),
        Example.same("y = tf.reverse(x, a)", note="nobody knows"),
    ),
)
def reversed_dimensions(call: Call) -> None:
    """Gives the axes to be reversed in the place of a truth value for each."""
    arg = call.arg("dims") or call.arg("axis", 1)
    if arg is None or call.has_star_args or is_guarded(call):
        return None
    value = arg.value if isinstance(arg.value, cst.List) else bound_value(arg.value, call.scope)
    elements = [getattr(element.value, "value", "") for element in value.elements] if isinstance(value, cst.List) else []
    is_named = arg.keyword is not None and arg.keyword.value == "dims"
    if not elements or not set(elements) <= {"True", "False"}:
        message = "Since TensorFlow 1.0 tf.reverse takes axis, the numbers of the dimensions, and no truth value for each."
        return call.unsupported(f"{message} Write axis=[...].") if is_named else None
    call.replace(arg.value, f"[{', '.join(str(n) for n, flag in enumerate(elements) if flag == 'True')}]")
    if is_named:
        call.rename_keyword(arg, "axis")
    return call.fixed(
        "Since TensorFlow 1.0 tf.reverse takes axis, the numbers of the dimensions, where dims was a truth value for each."
    )


@part_of(
    swapped_labels,
    matches=("tensorflow.sparse_split",),
    examples=(
        Example("a = tf.sparse_split(1, 2, s)", "a = tf.sparse_split(axis=1, num_split=2, sp_input=s)"),
        Example.same("a = tf.sparse_split(axis=1, num_split=2, sp_input=s)", note="by name, as 1.15 wants it"),
        Example.same("a = mine.sparse_split(1, 2, s)", note="not TensorFlow's"),
    ),
)
def unnamed_split(call: Call) -> None:
    """Names arguments that 1.15 refuses without."""
    plain = call.positional_args
    if not plain or call.has_star_args or is_guarded(call):
        return
    for arg, name in zip(plain, ("axis", "num_split", "sp_input", "name"), strict=False):
        call.rename_keyword(arg, name)
    call.fixed("TensorFlow 1.15 wants the names axis, num_split and sp_input, which came in this order before 1.0.")


@part_of(
    swapped_labels,
    matches=_DROPOUT,
    examples=(
        Example("c = tf.nn.rnn_cell.DropoutWrapper(c, 0.5, 0.5, 42)", "c = tf.nn.rnn_cell.DropoutWrapper(c, 0.5, 0.5, seed=42)"),
        Example.same("c = tf.nn.rnn_cell.DropoutWrapper(c, 0.5, 0.5, 0.9)", note="a probability, as 1.15 takes it"),
        Example.same("c = tf.nn.rnn_cell.DropoutWrapper(c, 0.5, 0.5, seed=42)", note="by name"),
    ),
)
def seed_of_dropout(call: Call) -> None:
    """Names the seed of a wrapper, in whose place a probability stands now."""
    plain = call.positional_args
    if call.has_star_args or len(plain) != _WITH_SEED or is_guarded(call):
        return
    value = plain[-1].value
    if isinstance(value, cst.Integer) and int(value.value, 0) > 1:
        call.rename_keyword(plain[-1], "seed")
        call.fixed(
            "Since TensorFlow 1.1 the probability to keep the state stands where the seed stood; by name it stays the seed."
        )


_WITH_SEED = 4
"""Arguments with a cell, two probabilities and a seed."""


@part_of(
    swapped_labels,
    matches=("tensorflow.svd",),
    examples=(
        Example.same("s = tf.svd(x, False)", level="info", write="s = tf.svd(x, compute_uv=False)"),
        Example.same("s = tf.svd(x, compute_uv=False)", note="by name"),
        Example.same("s, u, v = tf.svd(x)", note="nothing is asked for"),
    ),
)
def unnamed_svd(call: Call) -> None:
    """Says what an unnamed argument of a decomposition means in either release."""
    if len(call.positional_args) > 1 and not call.has_star_args:
        call.info(
            "The second argument is full_matrices in TensorFlow 1.15 and was compute_uv before 1.0: write the name that is meant."
        )


_CALLING = tuple(
    f"tensorflow.contrib.{name}"
    for name in (
        "legacy_seq2seq.sequence_loss", "legacy_seq2seq.sequence_loss_by_example", "legacy_seq2seq.model_with_buckets",
        "seq2seq.sequence_loss",
    )
)  # fmt: skip


@part_of(
    swapped_labels,
    matches=_CALLING,
    examples=(
        Example.same(
            "def loss(inputs, labels):\n    return f(labels, inputs)\n"
            "l = tf.contrib.legacy_seq2seq.sequence_loss(x, y, w, softmax_loss_function=loss)",
            level="manual",
            write="def loss(labels, logits):\n    return f(labels, logits)\n"
            "l = tf.contrib.legacy_seq2seq.sequence_loss(x, y, w, softmax_loss_function=loss)",
        ),
        Example.same(
            "def loss(labels, logits):\n    return f(labels, logits)\n"
            "l = tf.contrib.legacy_seq2seq.sequence_loss(x, y, w, softmax_loss_function=loss)",
            note="has the names of 1.15",
        ),
        Example.same("l = tf.contrib.legacy_seq2seq.sequence_loss(x, y, w, softmax_loss_function=f)", note="nobody knows"),
    ),
)
def loss_function(call: Call) -> None:
    """Reports loss functions without the parameters by whose names 1.15 calls them."""
    value = call.value("softmax_loss_function")
    bindings = call.scope.lookup(value.value) if isinstance(value, cst.Name) else []
    node: Any = bindings[0].node if len(bindings) == 1 else value
    if not isinstance(node, (cst.FunctionDef, cst.Lambda)) or node.params.star_kwarg is not None or is_guarded(call):
        return
    names = {param.name.value for param in (*node.params.params, *node.params.kwonly_params)}
    if not {"labels", "logits"} <= names:
        call.manual(
            "TensorFlow calls this function as f(labels=..., logits=...) since 1.0; before, the inputs came first, without "
            "names: give it the parameters labels and logits.",
        )
