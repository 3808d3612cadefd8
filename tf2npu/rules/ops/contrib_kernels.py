"""Ops of tf.contrib whose kernels are for the CPU, or for GPUs, only."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.written_code import mixed_computing
from tf2npu.scanner.sites import Call

_WITH_GPU = "-"
_OF_MEMORY = "memory"
_CELL = "tf.nn.rnn_cell.{} with tf.nn.dynamic_rnn, or npu_rnn's DynamicRNN,"
# API below tf.contrib -> what to do in its place.
_INSTEAD = {
    "image.bipartite_match": "", "image.connected_components": "", "image.single_image_random_dot_stereograms": "",
    "image.adjust_hsv_in_yiq": "tf.image.adjust_hue and tf.image.adjust_saturation",
    "image.random_hsv_in_yiq": "tf.image.random_hue and tf.image.random_saturation",
    "image.random_yiq_hsv": "tf.image.random_hue and tf.image.random_saturation",
    "resampler.resampler": "tf.gather_nd at the four corners and a weighted sum", "periodic_resample.periodic_resample": "",
    "text.skip_gram_sample": "", "text.skip_gram_sample_with_text_vocab": "", "input_pipeline.obtain_next": "tf.data",
    "factorization.WALSModel": "", "factorization.WALSMatrixFactorization": "", "factorization.KMeans": "",
    "factorization.gmm": "", "tensor_forest.client.random_forest.TensorForestEstimator": "",
    "tensor_forest.tensor_forest.RandomForestGraphs": "",
    "boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeClassifier": "tf.estimator.BoostedTreesClassifier",
    "boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeRegressor": "tf.estimator.BoostedTreesRegressor",
    "linear_optimizer.SDCAOptimizer": "", "linear_optimizer.SdcaModel": "",
    "memory_stats.BytesInUse": _OF_MEMORY, "memory_stats.BytesLimit": _OF_MEMORY, "memory_stats.MaxBytesInUse": _OF_MEMORY,
    "fused_conv.fused_conv2d_bias_activation": "tf.nn.conv2d, tf.nn.bias_add and tf.nn.relu, which the NPU fuses,",
    "fused_conv.python.ops.fused_conv2d_bias_activation_op.fused_conv2d_bias_activation":
        "tf.nn.conv2d, tf.nn.bias_add and tf.nn.relu, which the NPU fuses,",
    "rnn.LSTMBlockCell": _CELL.format("LSTMCell"), "rnn.LSTMBlockFusedCell": _CELL.format("LSTMCell"),
    "cudnn_rnn.CudnnCompatibleLSTMCell": _CELL.format("LSTMCell(n, forget_bias=0)"),  # an LSTMBlockCell
    "rnn.GRUBlockCell": _CELL.format("GRUCell"), "rnn.GRUBlockCellV2": _CELL.format("GRUCell"),
    "tensorrt.create_inference_graph": _WITH_GPU, "tensorrt.TrtGraphConverter": _WITH_GPU,
    "compiler.xla.compile": "the function itself (the NPU compiles the graph already)",
    "compiler.xla.estimator_model_fn": "the model function itself (the NPU compiles the graph already)",
}  # fmt: skip


@rule(
    id="NPU966",
    title="contrib op without a kernel on the NPU",
    once=True,
    matches=tuple(f"tensorflow.contrib.{name}" for name in _INSTEAD),
    why="Libraries of tf.contrib bring kernels of their own for CPU and GPU; the NPU's list of operators has none for them.",
    done_when="The summary of `tf2npu run` names no op of this library on the host, or mix_compile_mode is among the options.",
    source="shared libraries in tensorflow/contrib of TensorFlow 1.15; operator list of the Ascend 910",
    examples=(
        Example.same(
            "y = tf.contrib.resampler.resampler(x, warp)",
            level="manual",
            write="y = mine.resample(x, warp)  # tf.gather_nd at the four corners and a weighted sum",
        ),
        Example.same("n = sess.run(tf.contrib.memory_stats.MaxBytesInUse())", level="manual", write="n = 0  # see npu-smi info"),
        Example.same("cell = tf.contrib.rnn.LSTMBlockCell(64)", level="manual", write="cell = tf.nn.rnn_cell.LSTMCell(64)"),
        Example.same("y = tf.contrib.layers.batch_norm(x)", note="made of ordinary ops"),
        Example.same("y = mine.resampler.resampler(x, warp)", note="not TensorFlow's"),
    ),
)
def contrib_kernel(call: Call) -> None:
    """Reports APIs of tf.contrib that are backed by kernels of their own."""
    name = call.name.removeprefix("tensorflow.contrib.")
    instead = _INSTEAD[name]
    if instead == _WITH_GPU:
        call.unsupported("TensorRT builds engines for NVIDIA's GPUs: leave it out, and use the graph as it is.")
    elif instead == _OF_MEMORY:
        call.manual("It asks for the memory of a GPU: leave it out. `npu-smi info` shows what is in use on an NPU.")
    elif instead:
        call.manual(
            f"The NPU does not run tf.contrib.{name}. In the model write {instead} in the place of the call; in a tf.data "
            "pipeline the call may stay."
        )
    else:
        call.manual(
            f"The NPU does not run tf.contrib.{name}. In a tf.data pipeline the call may stay. In the model set "
            "mix_compile_mode=True, by which the host runs the op, more slowly.",
            mixed_computing(call),
        )
