"""The planted errors: forty, of five causes, over the four examples and ten small networks."""

from __future__ import annotations

from tests.check.plant import Plant

FORCED, MIXED = "force_fp16", "allow_mix_precision"


def changed(script: str, node: str, old: str, new: str, line: str = "", file: str = "") -> Plant:
    """An edit of the converted script.  line: text of the line that is to be named, where it is not the edited one."""
    return Plant(script, node, line or old, migrated=((old, new),), file=file)


CONVERSION = (
    # constants and attributes
    changed("dense_session", "LeakyRelu", "alpha=0.2", "alpha=0.3"),
    changed("dense_session", "Reshape/shape", "[-1, 12, 2]), axis=2", "[-1, 2, 12]), axis=1"),
    changed("dense_session", "y", "y: classes[part]}", "y: classes[part][::-1]}", "tf.placeholder(tf.int64"),
    changed("conv_norm_session", "norm_a/FusedBatchNormV3", "epsilon=1e-3", "epsilon=1e-5"),
    changed("conv_norm_session", "b/Conv2D", "padding='SAME')", "padding=[[0, 0], [1, 1], [1, 1], [0, 0]])"),
    changed("conv_norm_session", "AvgPool", "[1, 1, 1, 1], 'SAME')", "[1, 1, 1, 1], 'VALID')"),
    changed("conv_norm_session", "Momentum/momentum", "Optimizer(0.05, 0.9)", "Optimizer(0.05, 0.95)"),
    changed("attention_session", "shares", "scores, axis=-1", "scores, axis=1"),
    changed(
        "attention_session", "MatMul_2", "tf.matmul(query, key, transpose_b=True)", "tf.matmul(key, query, transpose_b=True)"
    ),
    changed("attention_session", "add/y", "epsilon=1e-5", "epsilon=1e-3", "tf.rsqrt(variance"),
    changed("recurrent_session", "huber_loss/Minimum/y", "delta=0.3", "delta=0.2"),
    changed("estimator_regression", "penalty/y", "tf.abs(output)), 0.05", "tf.abs(output)), 0.06"),
    changed(
        "estimator_regression", "IteratorGetNext", "values = VALUES", "values = np.roll(VALUES, 1, axis=0)", "train(input_fn"
    ),
    changed("estimator_classes", "transpose/perm", "[0, 3, 1, 2]", "[0, 3, 2, 1]"),
    changed("estimator_classes", "Mul_1/y", "tf.multiply(gradient, 0.5)", "tf.multiply(gradient, 0.25)"),
    changed("monitored_autoencoder", "decoded", "tf.matmul(code, encoder, transpose_b=True", "tf.matmul(code, encoder"),
    changed("monitored_pairs", "gradients/embedding/IdentityN_grad/damping/y", "dy, 0.9", "dy, 1.0"),
    changed("keras_dense", "leaky_re_lu/LeakyRelu", "alpha=0.3", "alpha=0.2", "tf.keras.Sequential"),
    changed("alexnet", "norm2", "conv2, 2, 2e-05", "conv2, 2, 2e-03", "local_response_normalization(", file="alexnet.py"),
    changed(
        "alexnet",
        "train/Momentum/learning_rate",
        "Optimizer(args.learning_rate",
        "Optimizer(0.5 * args.learning_rate",
        "apply_gradients(grads_and_vars",
    ),
    changed(
        "lenet",
        "pool2/AvgPool",
        "tf.layers.max_pooling2d(net, 2, 2, name='pool2')",
        "tf.layers.average_pooling2d(net, 2, 2, name='pool2')",
        file="lenet.py",
    ),
    changed(
        "lenet",
        "Adam/learning_rate",
        "AdamOptimizer(learning_rate=params['learning_rate']",
        "AdamOptimizer(learning_rate=2 * params['learning_rate']",
        "optimizer.minimize",
        file="lenet.py",
    ),
    changed("keras_cnn", "training/Adam/learning_rate", "Adam(lr=0.001)", "Adam(lr=0.002)", "model.fit("),
    changed("keras_conv", "first/Conv2D", "strides=2, padding='same'", "strides=2, padding='valid'"),
)


def inserted(script: str, node: str, line: str, cause: str, mode: str, *edits: tuple[str, str], file: str = "") -> Plant:
    """Edits of both scripts, which show in a mode of 16 bits."""
    return Plant(script, node, line, cause, both=edits, mode=mode, file=file)


_DENSE, _ELU = "logits = layer(net, 4, 'logits')", "net = tf.nn.elu(layer(net, 24, 'two'))"
_INNER = "inner = tf.tanh(tf.matmul(pooled, weights('square', 16, 16)), name='inner')"
PRECISION = (
    inserted(
        "dense_session", "product", "name='product'", "overflow", MIXED,
        (_DENSE, f"net *= 512.0\nwide = tf.multiply(net, net, name='product')\nnet = tf.tanh(wide / 2.0 ** 18)\n{_DENSE}"),
    ),
    inserted(
        "dense_session", "large", "name='large'", "precision", MIXED,
        (_DENSE, f"large = tf.add(net, 4096.0, name='large')\nnet = tf.subtract(large, 4096.0)\n{_DENSE}"),
    ),
    inserted(
        "attention_session", "large", "name='large'", "overflow", FORCED,
        (_INNER, f"{_INNER}\nlarge = tf.exp(inner + 14.0, name='large')\ninner = tf.log(large) - 14.0"),
    ),
    inserted(
        "attention_session", "gradients/Square_1_grad/Mul_1", "loss = tf.reduce_mean(tf.square(output", "overflow", FORCED,
        (
            "gradients = tf.gradients(loss, variables)",
            "scaled = tf.multiply(loss, 2.0 ** 15, name='scaled')\nscaled = tf.multiply(scaled, 2.0 ** 5, name='scaled_loss')\n"
            "gradients = [tf.convert_to_tensor(g) * 2.0 ** -20 for g in tf.gradients(scaled, variables)]",
        ),
    ),
    inserted(
        "estimator_classes", "gradients/back_grad/Mul", "name='back'", "precision", FORCED,
        ("    logits =", "    net = tf.multiply(net, 2.0 ** 15, name='scaled')\n"
         "    net = tf.multiply(net, 2.0 ** -15, name='back')\n    logits ="),
        ("loss = -tf.reduce_mean(", "loss = -(2.0 ** -8) * tf.reduce_mean("),
    ),
    inserted(
        "keras_dense", "wider/add", "layers.Lambda", "precision", FORCED, ("t * 1.5", "(t + 2048.0) - 2048.0"),
    ),
    inserted(
        "estimator_regression", "huge", "name='huge'", "overflow", MIXED,
        ("    penalty =", "    huge = tf.square(output * 400.0, name='huge')\n    penalty ="),
        ("tf.reduce_mean(tf.abs(output)), 0.05", "tf.reduce_mean(huge), 1e-7"),
    ),
    inserted(
        "transformer", "mul", "* -100000.0", "overflow", FORCED, ("* -10000.0", "* -100000.0"), file="modeling.py",
    ),
)  # fmt: skip

BREAK = """
import dataclasses
from npu_runtime.kernels.base import all_kernels
kernels = all_kernels()
def wrong(kernel, change):
    def made(*inputs, out=None, **named):
        result = kernel.function(*inputs, **named)
        first = change(result[0] if isinstance(result, tuple) else result)
        if isinstance(result, tuple):
            result = (first, *result[1:])
            if out is None:
                return result
            buffers = out if isinstance(out, tuple) else (out,)
            return tuple(value if buffer is None else set_to(buffer, value) for buffer, value in zip(buffers, result))
        return first if out is None else set_to(out, first)
    return dataclasses.replace(kernel, function=made, small=None)
def set_to(buffer, value):
    buffer[...] = value
    return buffer
"""


def broken(script: str, node: str, line: str, cause: str, op: str, factor: float = 1.05) -> Plant:
    """A kernel of the device whose first result is that many times as large."""
    source = f"{BREAK}\nkernels[{op!r}] = wrong(kernels[{op!r}], lambda value: (value * {factor}).astype(value.dtype))\n"
    return Plant(script, node, line, cause, broken=source)


_FOLD = """
import npu_runtime.passes.simplify.fold_constants as folding
right = folding._computed_values
def wrong(graph, node):
    values = right(graph, node)
    if values is not None and node.name == {!r}:
        values = [value * value.dtype.type(1.1) for value in values]
    return values
folding._computed_values = wrong
"""

DEVICE = (
    broken("dense_session", "Elu", _ELU, "kernel", "Elu"),
    broken("conv_norm_session", "gradients/AvgPool_grad/AvgPoolGrad", "tf.nn.avg_pool", "kernel", "AvgPoolGrad"),
    broken("attention_session", "inner", _INNER, "kernel", "Tanh"),
    Plant(
        "monitored_autoencoder", "Momentum/update_encoder/ApplyMomentum", "tf.train.MomentumOptimizer", "kernel",
        broken=f"{BREAK}\nright = kernels['ApplyMomentum'].function\ndef half(variable, slot, rate, *others, **named):\n"
        "    return right(variable, slot, rate * rate.dtype.type(0.5), *others, **named)\n"
        "kernels['ApplyMomentum'] = dataclasses.replace(kernels['ApplyMomentum'], function=half, small=None)\n",
    ),
    broken("dense_session", "LeakyRelu", "tf.nn.leaky_relu", "fusion", "_FusedMatMul"),
    broken("keras_conv", "first/Relu", "name='first'", "fusion", "_FusedConv2D"),
    broken("conv_norm_session", "Relu", "net = tf.nn.relu(", "fusion", "_BatchNormActivation"),
    Plant("dense_session", "folded", "name='folded'", "folding", broken=_FOLD.format("folded")),
)  # fmt: skip

PLANTS = (*CONVERSION, *PRECISION, *DEVICE)
CLEAN_MODES = tuple(
    (script, FORCED)
    for script in ("dense_session", "conv_norm_session", "recurrent_session", "keras_dense", "keras_conv", "monitored_pairs")
)
"""Scripts without an error in another mode, beside each of them in the modes that a check looks at by itself."""
