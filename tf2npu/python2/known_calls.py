"""Functions of Python, NumPy and TensorFlow by the kinds of numbers that they take and give, under the names people write."""

from __future__ import annotations

import ast

_FIRST = (
    ("numpy.", "np."),
    ("tensorflow.compat.v1.", "tf."),
    ("tensorflow.", "tf."),
    ("tf.compat.v1.", "tf."),
    ("tf.python.ops.", ""),
)
WHOLE_CALLS = frozenset(("len", "int", "ord", "np.count_nonzero", "math.factorial"))
WHOLE_METHODS = frozenset(("count_nonzero",))
_ELEMENTS_REAL = (
    "log", "log2", "log10", "log1p", "exp", "expm1", "sqrt", "sin", "cos", "tan", "tanh", "arctan", "arctan2", "mean", "std",
    "var", "average", "nanmean", "random.rand", "random.randn", "random.uniform", "random.normal", "random.random",
    "random.random_sample", "random.beta", "random.standard_normal", "linalg.norm", "linspace", "deg2rad", "float16", "float32",
    "float64",
)  # fmt: skip
_TF_REAL = (
    "log", "log1p", "exp", "sqrt", "rsqrt", "sin", "cos", "sigmoid", "tanh", "to_float", "nn.sigmoid", "nn.tanh", "nn.softmax",
    "nn.log_softmax", "nn.softplus", "nn.elu", "nn.l2_loss", "nn.l2_normalize", "nn.dropout", "nn.conv2d",
    "nn.softmax_cross_entropy_with_logits",
    "nn.softmax_cross_entropy_with_logits_v2", "nn.sigmoid_cross_entropy_with_logits", "layers.dense", "layers.conv2d",
    "nn.sparse_softmax_cross_entropy_with_logits",
)  # fmt: skip
REAL_CALLS = frozenset(
    (
        "float", "time.time", "time.clock", "random.random", "random.uniform", "nn_ops.softmax", "math_ops.to_float",
        *(f"np.{name}" for name in _ELEMENTS_REAL), *(f"tf.{name}" for name in _TF_REAL),
    )
)  # fmt: skip
"""Calls whose results are floating-point whatever they are given."""
WHOLE_OF_MATH = frozenset(("math.factorial", "math.trunc", "math.gcd"))
_REAL_METHODS = frozenset(("mean", "std"))
REAL_NAMES = frozenset(("np.pi", "np.e", "np.inf", "math.pi", "math.e"))
REAL_TYPES = frozenset(
    (
        "float", "np.float", "np.float16", "np.float32", "np.float64", "np.double", "tf.float16", "tf.float32", "tf.float64",
        "tf.bfloat16", "'float'", "'float16'", "'float32'", "'float64'", "'double'",
    )
)  # fmt: skip
CASTS = {
    "tf.cast": 1, "math_ops.cast": 1, "np.asarray": 1, "np.array": 1, "tf.placeholder": 0, "tf.constant": 1, "tf.Variable": 5,
    "tf.convert_to_tensor": 1,
}  # fmt: skip
"""Calls with a type, and the position of the type."""
ARRAYS = frozenset(("np.asarray", "np.array", "tf.constant", "tf.convert_to_tensor", "tf.stack", "tf.Variable"))
"""Calls that take the type of what they hold where none is given."""
REAL_BY_DEFAULT = {
    "tf.zeros": 1, "tf.ones": 1, "np.zeros": 1, "np.ones": 1, "np.empty": 1, "tf.random_normal": 3, "tf.truncated_normal": 3,
}  # fmt: skip
"""Calls that give floating-point numbers where no type is given, and the position of the type."""
SAME_AS_ARGUMENT = frozenset(
    (
        *(f"tf.reduce_{name}" for name in ("sum", "mean", "max", "min", "prod")), "tf.reshape", "tf.squeeze", "tf.expand_dims",
        "tf.abs", "tf.square", "tf.sign", "tf.negative", "tf.identity", "tf.transpose", "tf.stop_gradient", "tf.tile",
        "tf.gather", "np.max", "np.min", "np.amax",
        "tf.nn.embedding_lookup", "tf.nn.relu", "tf.clip_by_value", "abs", "np.sum", "np.abs",
        "np.amin", "np.square", "np.squeeze", "np.reshape", "np.transpose", "np.copy", "np.expand_dims", "np.tile", "np.repeat",
    )
)  # fmt: skip
"""Calls whose results are of the kind of their first argument."""
SAME_AS_ARGUMENTS = frozenset(
    (
        "tf.add", "tf.subtract", "tf.multiply", "tf.matmul", "tf.pow", "tf.maximum", "tf.minimum", "np.add", "np.subtract",
        "np.multiply", "np.dot", "np.matmul", "np.power", "np.maximum", "np.minimum", "tf.squared_difference",
    )
)  # fmt: skip
"""Calls of two arguments whose results are real where one of the two is."""
REAL_OF_REAL = frozenset(("sum", "max", "min", "reshape", "copy", "flatten", "ravel", "transpose", "eval", "squeeze", "dot"))
"""Methods that give real numbers for an object that holds some."""
REAL_TAKERS = frozenset(
    f"tf.{name}"
    for name in (
        "log", "log1p", "exp", "sqrt", "rsqrt", "sin", "cos", "sigmoid", "tanh", "nn.sigmoid", "nn.tanh", "nn.softmax",
        "nn.log_softmax", "nn.softplus", "nn.elu", "nn.l2_loss", "nn.conv2d",
    )
)  # fmt: skip
"""Functions that raise where their first argument is not of a floating-point type."""


def called_name(function: ast.expr) -> str:
    """The name of what is called, with the usual short names of the packages."""
    text = ast.unparse(function)
    for long, short in _FIRST:
        if text.startswith(long):
            return short + text[len(long) :]
    return text


def type_of(node: ast.Call, position: int) -> str | None:
    """The type that a call is given, as a text; None where it is given none."""
    given = [k.value for k in node.keywords if k.arg == "dtype"] or node.args[position : position + 1]
    return called_name(given[0]) if given else None


def fetched(node: ast.expr | None) -> ast.expr | None:
    """The tensor, or list of them, that a session is asked for; None for other expressions."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Attribute) or node.func.attr != "run":
        return None
    return node.args[0] if ast.unparse(node.func.value).lower().endswith(("sess", "session")) else None


def is_real_method(node: ast.Call) -> bool:
    """Whether a call asks an array for a mean, and not a module, which would be given the array."""
    is_named = isinstance(node.func, ast.Attribute) and node.func.attr in _REAL_METHODS
    return is_named and all(isinstance(value, ast.Constant) for value in node.args)


def taken_as_real(node: ast.AST) -> ast.expr | None:
    """The argument of a call that must be real, or the call fails; None for other nodes."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    called = called_name(node.func)
    is_loss = isinstance(node.func, ast.Attribute) and node.func.attr == "minimize" and not called.endswith("optimize.minimize")
    return node.args[0] if called in REAL_TAKERS or is_loss else None
