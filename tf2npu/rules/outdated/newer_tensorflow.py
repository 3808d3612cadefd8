"""TensorFlow names that came after 1.15."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.dialect import is_for_2
from tf2npu.frameworks.tensorflow1.tensorflow2_names import TENSORFLOW_2_NAMES
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.scanner.sites import Site

_INSTEAD = {
    "optimizers.Adam": "tf.train.AdamOptimizer(rate) or tf.keras.optimizers.Adam(rate)",
    "optimizers.SGD": "tf.train.GradientDescentOptimizer(rate) or tf.keras.optimizers.SGD(rate)",
    "optimizers.RMSprop": "tf.train.RMSPropOptimizer(rate) or tf.keras.optimizers.RMSprop(rate)",
    "optimizers.schedules.ExponentialDecay": "tf.train.exponential_decay(rate, step, steps, decay)",
    "keras.optimizers.schedules.CosineDecay": "tf.train.cosine_decay(rate, step, steps)",
    "keras.optimizers.AdamW": "tf.contrib.opt.AdamWOptimizer(decay, rate)",
    "random.set_seed": "tf.set_random_seed(seed)",
    "random.Generator": "tf.random.uniform and tf.random.normal with a seed",
    "data.AUTOTUNE": "tf.data.experimental.AUTOTUNE",
    "config.list_physical_devices": "tf.config.experimental.list_physical_devices(kind)",
    "config.set_visible_devices": "tf.config.experimental.set_visible_devices(devices, kind)",
    "config.list_logical_devices": "tf.config.experimental.list_logical_devices(kind)",
    "config.run_functions_eagerly": "nothing: graphs are what the NPU needs",
    "distribute.MultiWorkerMirroredStrategy": "tf.distribute.experimental.MultiWorkerMirroredStrategy()",
    "keras.mixed_precision.Policy": "tf.keras.mixed_precision.experimental.Policy(name)",
    "keras.mixed_precision.set_global_policy": "tf.keras.mixed_precision.experimental.set_policy(name)",
    "math.erfinv": "tf.contrib.distributions.Normal(0., 1.).quantile((x + 1) / 2) / 2 ** 0.5",
    "nn.silu": "tf.nn.swish(x)",
    "nn.gelu": "the formula, which the converter turns into npu_unary_ops.gelu",
    "keras.activations.swish": "tf.nn.swish",
    "keras.activations.gelu": "the formula, which the converter turns into npu_unary_ops.gelu",
    "summary.create_file_writer": "tf.summary.FileWriter(folder)",
    "data.Dataset().as_numpy_iterator": "an iterator's get_next() in sess.run",
    "data.Dataset().bucket_by_sequence_length": "dataset.apply(tf.data.experimental.bucket_by_sequence_length(...))",
    "data.Dataset().unique": "dataset.apply(tf.data.experimental.unique())",
    "data.Dataset().scan": "dataset.apply(tf.data.experimental.scan(...))",
    "data.Dataset().cardinality": "tf.data.experimental.cardinality(dataset)",
    "data.Dataset().group_by_window": "dataset.apply(tf.data.experimental.group_by_window(...))",
    "data.Dataset().take_while": "dataset.apply(tf.data.experimental.take_while(...))",
    "image.resize_with_pad": "tf.image.resize_image_with_pad(image, height, width)",
    "losses.SparseCategoricalCrossentropy": "tf.keras.losses.SparseCategoricalCrossentropy()",
    "losses.CategoricalCrossentropy": "tf.keras.losses.CategoricalCrossentropy()",
    "losses.BinaryCrossentropy": "tf.keras.losses.BinaryCrossentropy()",
    "losses.MeanSquaredError": "tf.keras.losses.MeanSquaredError()",
    "metrics.Mean": "tf.keras.metrics.Mean()",
    "metrics.SparseCategoricalAccuracy": "tf.keras.metrics.SparseCategoricalAccuracy()",
}


@rule(
    id="NPU951",
    title="Name of TensorFlow 2",
    once=True,
    on=("reference", "call"),
    matches=TENSORFLOW_2_NAMES,
    why="The NPU's adapter for TensorFlow 1 works with 1.15, where the name does not exist: the program ends there.",
    done_when="`tf2npu api` knows what is written here as an API of TensorFlow 1.15, and `tf2npu run` passes the line.",
    source="public API of TensorFlow 1.15.0 compared with 2.15.1",
    examples=(
        Example.same("tf.random.set_seed(1)", level="unsupported", write="tf.set_random_seed(1)"),
        Example.same("d = tf.data.Dataset.range(3).map(f, num_parallel_calls=tf.data.AUTOTUNE)", level="unsupported"),
        Example.same("tf.set_random_seed(1)", note="the name of 1.15"),
        Example.same("if tf.__version__.startswith('2'):\n    tf.random.set_seed(1)", note="only where it exists"),
        Example.same("tf.keras.utils.plot_model(m)", note="in both"),
    ),
)
def newer_name(site: Site) -> None:
    """Reports TensorFlow names that came after 1.15 and says what 1.15 has."""
    if is_guarded(site) or is_for_2(site.script):
        return
    version = site.script.config.target.tensorflow
    name = site.name.removeprefix("tensorflow.")
    public = f"tf.{name.replace('()', '')}"
    site.unsupported(f"TensorFlow {version} has no {public}: write {_INSTEAD.get(name, f'it with what {version} has')}.")
