"""TensorFlow names and calls that releases before 1.15 had, most of them before 1.0."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.api_support.table import shown
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.rules.facts.files.file_uses import uses
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.tree_walk import dotted_name

_BATCHED = (
    "matmul", "cholesky", "cholesky_solve", "self_adjoint_eig", "self_adjoint_eigvals", "svd", "fft", "fft2d", "fft3d",
    "ifft", "ifft2d", "ifft3d", "matrix_determinant", "matrix_inverse", "matrix_solve", "matrix_solve_ls",
    "matrix_triangular_solve", "matrix_transpose", "matrix_diag", "matrix_diag_part", "matrix_set_diag", "matrix_band_part",
)  # fmt: skip
_FFTS = ("fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d")
_INSTEAD = {
    "mul": "tf.multiply", "sub": "tf.subtract", "neg": "tf.negative", "inv": "tf.reciprocal", "pack": "tf.stack",
    "unpack": "tf.unstack", "select": "tf.where", "complex_abs": "tf.abs", "listdiff": "tf.setdiff1d",
    "list_diff": "tf.setdiff1d", "scalar_summary": "tf.summary.scalar", "histogram_summary": "tf.summary.histogram",
    "image_summary": "tf.summary.image", "audio_summary": "tf.summary.audio", "merge_summary": "tf.summary.merge",
    "merge_all_summaries": "tf.summary.merge_all", "train.SummaryWriter": "tf.summary.FileWriter",
    "image.per_image_whitening": "tf.image.per_image_standardization", "nn.rnn": "tf.nn.static_rnn",
    "nn.bidirectional_rnn": "tf.nn.static_bidirectional_rnn", "nn.state_saving_rnn": "tf.nn.static_state_saving_rnn",
    "nn.seq2seq": "tf.contrib.legacy_seq2seq", "python.ops.seq2seq": "tf.contrib.legacy_seq2seq",
    "nn.rnn_cell._linear": "tf.layers.dense of tf.concat(args, 1)",
    "python.ops.rnn_cell_impl._linear": "tf.layers.dense of tf.concat(args, 1)",
    "python.ops.rnn_cell_impl._Linear": "tf.contrib.rnn.python.ops.core_rnn_cell._Linear",
    "models": "an import of the files of the repository tensorflow/models, put beside the script",
    **{f"batch_{name}": f"tf.{name}" for name in _BATCHED},
}  # fmt: skip
OLD_NAMES = {f"tensorflow.{name}": instead for name, instead in _INSTEAD.items()}
_ORDERS = {
    "tensorflow.concat": {"concat_dim": "axis", "values": "values"},
    "tensorflow.split": {"split_dim": "axis", "num_split": "num_or_size_splits", "value": "value"},
}
"""The parameters of before TensorFlow 1.0, in their order, and what each is called in 1.15.  Source: release notes of 1.0."""
LOSSES = tuple(f"tensorflow.nn.{kind}_cross_entropy_with_logits" for kind in ("softmax", "sparse_softmax", "sigmoid"))
PARAMETERS = {
    **dict.fromkeys(("mul", "sub"), ("x", "y")), **dict.fromkeys(("neg", "inv", "complex_abs"), ("x",)),
    **dict.fromkeys(("listdiff", "list_diff"), ("x", "y")), "select": ("condition", "t:x", "e:y"), "pack": ("values", "axis"),
    "unpack": ("value", "num", "axis"), "scalar_summary": ("tags:name", "values:tensor"),
    "histogram_summary": ("tag:name", "values"),
    "image_summary": ("tag:name", "tensor", "max_images:max_outputs"), "merge_summary": ("inputs",),
    "audio_summary": ("tag:name", "tensor", "sample_rate"), "merge_all_summaries": ("key",),
    "train.SummaryWriter": ("logdir", "graph"), "image.per_image_whitening": ("image",),
    "batch_matmul": ("x:a", "y:b"), "nn.rnn": ("cell", "inputs", "initial_state", "dtype", "sequence_length", "scope"),
    "nn.state_saving_rnn": ("cell", "inputs", "state_saver", "state_name", "sequence_length", "scope"),
    "nn.bidirectional_rnn": (
        "cell_fw", "cell_bw", "inputs", "initial_state_fw", "initial_state_bw", "dtype", "sequence_length", "scope",
    ),
    "batch_cholesky_solve": ("chol", "rhs"), "batch_matrix_solve": ("matrix", "rhs", "adjoint"),
    "batch_matrix_triangular_solve": ("matrix", "rhs", "lower", "adjoint"), "batch_matrix_diag": ("diagonal",),
    "batch_matrix_set_diag": ("input", "diagonal"), "batch_matrix_band_part": ("input", "num_lower", "num_upper"),
    "batch_matrix_solve_ls": ("matrix", "rhs", "l2_regularizer", "fast"),
    **{f"batch_{name}": ("input",) for name in ("matrix_diag_part", "matrix_determinant")},
    **{f"batch_{name}": ("tensor",) for name in ("self_adjoint_eig", "self_adjoint_eigvals")},
    "batch_matrix_inverse": ("input", "adjoint"),
    **{f"batch_{name}": ("input",) for name in (*_FFTS, "matrix_transpose", "cholesky", "svd")},
}  # fmt: skip
"""First parameters of what only changed its name, which mean what they meant; `old:new` where they are called otherwise."""
KEYWORDS = {"batch_matmul": {"adj_x": "adjoint_a", "adj_y": "adjoint_b"}}
"""Further keywords that are called otherwise, where the positions behind the first parameters mean something else."""
POSITIONED = {"batch_matmul": ("adjoint_a", "adjoint_b")}
"""The positions behind the first parameters, by the keywords of 1.15."""
_WORDS = frozenset(name.rpartition(".")[2] for name in _INSTEAD)


@rule(
    id="NPU969",
    title="Name or call of an earlier TensorFlow",
    once=True,
    on="module",
    matches=tuple(OLD_NAMES),
    why="Earlier releases of TensorFlow had it; with 1.15, which the NPU's adapter works with, the program ends there.",
    done_when="`tf2npu api` knows what is written here as an API of TensorFlow 1.15, and `tf2npu run` passes the line.",
    source="release notes of TensorFlow 1.0 and later, compared with the public API of 1.15.0",
    examples=(
        Example("y = tf.mul(a, b)", "y = tf.multiply(a, b)"),
        Example(
            "s = tf.image_summary(tag='i', tensor=x, max_images=2)", "s = tf.summary.image(name='i', tensor=x, max_outputs=2)"
        ),
        Example("y = tf.batch_matmul(a, b, True)", "y = tf.matmul(a, b, adjoint_a=True)"),
        Example("a, b = tf.unpack(x, axis=1)", "a, b = tf.unstack(x, axis=1)"),
        Example.same("y = tf.batch_matmul(a, b, True, False, None)", level="unsupported"),
        Example.same("from tensorflow.python.ops import seq2seq", level="unsupported"),
        Example.same("y = tf.multiply(a, b)", note="the name of 1.15"),
        Example.same("init = tf.initialize_all_variables()", note="an old name that is still there"),
        Example.same("try:\n    mul = tf.mul\nexcept AttributeError:\n    mul = tf.multiply", note="has another way"),
    ),
)
def old_name(site: Site) -> None:
    """Renames what TensorFlow 1.15 has under another name, and reports what is to be written otherwise."""
    script = site.script
    if not uses_tensorflow(script) or _WORDS.isdisjoint(script.tree.tokens):
        return
    found: dict[tuple[int, int], cst.Attribute] = {}
    for name in uses(site, _part):
        found = found or {script.tree.span(node): node for node, _ in script.walked.references if isinstance(node, cst.Attribute)}
        if _rename(site, found.get(site.fix.site), name):
            site.fixed(f"{shown(name)} is called {OLD_NAMES[name]} since TensorFlow 1.0; it does the same.")
        else:
            site.unsupported(f"TensorFlow 1.15 has no {shown(name)} any more: write {OLD_NAMES[name]}.")


def _rename(site: Site, node: cst.Attribute | None, name: str) -> bool:
    """Write a name of 1.15 in the place of an old one; False where what is made of it may take other arguments."""
    parameters = PARAMETERS.get(name.removeprefix("tensorflow."))
    root = dotted_name(node).partition(".")[0] if node is not None else ""
    if node is None or parameters is None or not root or dotted_name(node) != name.replace("tensorflow", root, 1):
        return False
    parent = site.script.walked.parents.get(id(node))
    if isinstance(parent, cst.Call) and parent.func is node:
        new_names = {p.partition(":")[0]: p.rpartition(":")[2] for p in (*parameters, "name")}
        new_names |= KEYWORDS.get(name.removeprefix("tensorflow."), {})
        given = [arg for arg in parent.args if arg.keyword is not None]
        positioned = parent.args[len(parameters) : len(parent.args) - len(given)]
        keywords = POSITIONED.get(name.removeprefix("tensorflow."), ())
        if any(a.star for a in parent.args) or len(positioned) > len(keywords) or _is_name_for_axis(parent, parameters):
            return False
        if not {str(a.keyword.value) for a in given if a.keyword} <= new_names.keys():
            return False
        for arg, keyword_name in zip(positioned, keywords, strict=False):
            site.insert(site.script.tree.span(arg.value)[0], f"{keyword_name}=")
        for keyword in (a.keyword for a in given if a.keyword is not None):
            if new_names[keyword.value] != keyword.value:
                site.replace(keyword, new_names[keyword.value])
    elif any(":" in p for p in parameters):
        return False
    site.replace(node, OLD_NAMES[name].replace("tf", root, 1))
    return True


def _is_name_for_axis(call: cst.Call, parameters: tuple[str, ...]) -> bool:
    """Whether a name stands where later versions take an axis, which the first ones did not have."""
    axes = (arg for arg, parameter in zip(call.args, parameters, strict=False) if parameter == "axis" and arg.keyword is None)
    return any(isinstance(arg.value, (cst.SimpleString, cst.FormattedString)) for arg in axes)


def _part(name: str) -> str | None:
    """The name that is gone in a qualified one, which may lead further (`tf.nn.seq2seq.rnn_decoder`)."""
    if not name.startswith("tensorflow."):
        return None
    parts = name.split(".")
    return next((head for n in range(2, len(parts) + 1) if (head := ".".join(parts[:n])) in OLD_NAMES), None)


@part_of(
    old_name,
    matches=("tensorflow.concat", "tensorflow.split"),
    examples=(
        Example("y = tf.concat(1, [a, b])", "y = tf.concat(axis=1, values=[a, b])"),
        Example("y = tf.concat(concat_dim=d, values=[a, b])", "y = tf.concat(axis=d, values=[a, b])"),
        Example("a, b = tf.split(1, 2, y)", "a, b = tf.split(axis=1, num_or_size_splits=2, value=y)"),
        Example.same("y = tf.concat(1, *parts)", level="unsupported"),
        Example.same("y = tf.concat([a, b], 1)", note="the order of 1.15"),
    ),
)
def old_order(call: Call) -> None:
    """Gives arguments in the order of before 1.0 their names: a number cannot be what is joined or split, nor a list the axis."""
    old = _ORDERS[call.name]
    keywords = {arg.keyword.value: arg for arg in call.args if arg.keyword is not None}
    if not (_is_number_first(call) or keywords.keys() & old.keys() - _ORDERS[call.name].values()) or is_guarded(call):
        return
    plain = call.positional_args
    if any(arg.star for arg in call.args) or len(plain) > len(old) or keywords.keys() - {*old, "name"}:
        order = "tf.concat(values, axis)" if call.name.endswith("concat") else "tf.split(value, num_or_size_splits, axis)"
        return call.unsupported(f"These are the arguments of before TensorFlow 1.0; in 1.15: {order}.")
    for arg, name in (*zip(plain, old, strict=False), *((arg, name) for name, arg in keywords.items() if name in old)):
        if arg.keyword is None or old[name] != name:
            call.rename_keyword(arg, old[name])
    named = ", ".join(_ORDERS[call.name].values())
    return call.fixed(
        f"Before TensorFlow 1.0 the arguments came in another order, or concat_dim for axis; by name ({named}) each stays."
    )


def _is_number_first(call: Call) -> bool:
    first, second = ([*call.args, None, None])[:2]
    if first is None or second is None or first.keyword is not None or first.star:
        return False
    value: Any = first.value
    is_number = isinstance(value.expression if isinstance(value, cst.UnaryOperation) else value, cst.Integer)
    is_list = isinstance(second.value, cst.List) and len(second.value.elements) > 1  # an axis may be a list of one number
    is_joined = call.name.endswith("concat") and second.keyword is None and (is_list or isinstance(second.value, cst.ListComp))
    return is_number or (is_joined and not isinstance(value, (cst.List, cst.ListComp, cst.Tuple)))


@part_of(
    old_name,
    matches=LOSSES,
    examples=(
        Example(
            "l = tf.nn.sigmoid_cross_entropy_with_logits(y, t)",
            "l = tf.nn.sigmoid_cross_entropy_with_logits(logits=y, labels=t)",
        ),
        Example.same(
            "l = tf.nn.softmax_cross_entropy_with_logits(y, t, 1)",
            level="unsupported",
            write="l = tf.nn.softmax_cross_entropy_with_logits(logits=y, labels=t, dim=1)",
        ),
        Example.same("l = tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=y)", note="by name, as 1.15 wants it"),
    ),
)
def positional_losses(call: Call) -> None:
    """Names the labels and logits of losses: 1.15 refuses them without, so they are in the order of before 1.0, logits first."""
    plain = call.positional_args
    if not plain or plain[0].star or is_guarded(call):
        return None
    given = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    if any(arg.star for arg in call.args) or len(plain) > 2 or given - {"name", "labels", "targets"}:
        return call.unsupported(
            "TensorFlow 1.15 refuses these arguments without their names: write labels=... and logits=..., which come in "
            "this order there; before 1.0 the logits came first."
        )
    for arg, name in zip(plain, ("logits", "labels"), strict=False):
        call.rename_keyword(arg, name)
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == "targets":
            call.rename_keyword(arg, "labels")
    return call.fixed(
        "TensorFlow 1.15 wants the names labels and logits; before 1.0, where there were none (or targets), the logits came "
        "first."
    )


TRUNCATING = {"tensorflow.div": "truncatediv", "tensorflow.mod": "truncatemod"}
"""Behaviour of each before 1.0, by the name that 1.15 has for it."""
_FLOATS = frozenset(
    f"tensorflow.{name}" for name in ("to_float", "to_double", "random_normal", "truncated_normal", "sqrt", "exp")
)


@part_of(
    old_name,
    matches=tuple(TRUNCATING),
    why="Before 1.0 TensorFlow rounded quotients toward zero, as C does; since then it rounds them down, as Python does.",
    done_when="Nothing negative is divided here, or the line has the name that truncates.",
    source="release notes of TensorFlow 1.0 on division and modulus, compared with the kernels of 1.15.0",
    examples=(
        Example(
            "n = tf.mul(p, q)\ny = tf.mod(n, 3)",
            "n = tf.multiply(p, q)\ny = tf.mod(n, 3)",
            level="info",
            write="n = tf.multiply(p, q)\ny = tf.truncatemod(n, 3)",
        ),
        Example.same("y = tf.mod(b, 3)", note="nothing in the file is of before 1.0"),
        Example.same("y = tf.div(tf.to_float(n), 2.0)", note="a quotient of floats is not rounded"),
    ),
)
def rounded_division(call: Call) -> None:
    """Says what the division of negative numbers was in a file that has names of before 1.0."""
    is_written_so = dotted_name(call.node.func).rpartition(".")[2] in ("div", "mod")  # tf.floormod is the same as tf.mod
    if not (is_written_so and _has_old_names(call.script)) or is_guarded(call):
        return
    if call.name == "tensorflow.div" and any(_is_float(call, call.value(name, at)) for at, name in enumerate("xy")):
        return
    now, then = call.name.rpartition(".")[2], TRUNCATING[call.name]
    call.info(
        f"This file has names of before TensorFlow 1.0, when tf.{now} rounded toward zero; it rounds down since then, which "
        f"differs where a number is negative: write tf.{then} there."
    )


def _has_old_names(script: Script) -> bool:
    references = () if _WORDS.isdisjoint(script.tree.tokens) else script.walked.references
    return any(script.name_of(reference, scope) in OLD_NAMES for reference, scope in references)


def _is_float(call: Call, node: cst.BaseExpression | None) -> bool:
    """Whether an operand is seen to be no whole number."""
    value: Any = bound_value(node, call.scope) if isinstance(node, cst.Name) else node
    if not isinstance(value, cst.Call):
        return isinstance(value, cst.Float)
    made = Call(call.script, call.fix.rule, value, call.scope, call.resolve(value.func) or "")
    kind = made.value("dtype", 1) if made.name == "tensorflow.cast" else None
    return made.name in _FLOATS or (kind is not None and (call.resolve(kind) or "").startswith("tensorflow.float"))
