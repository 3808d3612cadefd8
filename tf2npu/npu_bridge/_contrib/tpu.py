"""``tf.contrib.tpu``: the Estimator family, which trains without a TPU, and the graph functions around it."""

from tensorflow.python.tpu.async_checkpoint import AsyncCheckpointSaverHook
from tensorflow.python.tpu.bfloat16 import bfloat16_scope
from tensorflow.python.tpu.device_assignment import DeviceAssignment, device_assignment
from tensorflow.python.tpu.ops.tpu_ops import (
    cross_replica_sum,
    infeed_dequeue,
    infeed_dequeue_tuple,
    infeed_enqueue,
    infeed_enqueue_tuple,
    outfeed_dequeue,
    outfeed_dequeue_tuple,
    outfeed_enqueue,
    outfeed_enqueue_tuple,
)
from tensorflow.python.tpu.topology import Topology
from tensorflow.python.tpu.tpu import (
    batch_parallel,
    core,
    initialize_system,
    replicate,
    rewrite,
    shard,
    shutdown_system,
)
from tensorflow.python.tpu.tpu_feed import InfeedQueue
from tensorflow.python.tpu.tpu_optimizer import CrossShardOptimizer
from tensorflow.python.tpu.tpu_replication import outside_compilation
from tensorflow.python.tpu.training_loop import repeat, while_loop
from tensorflow_estimator.python.estimator.tpu.tpu_config import InputPipelineConfig, RunConfig, TPUConfig
from tensorflow_estimator.python.estimator.tpu.tpu_estimator import TPUEstimator, TPUEstimatorSpec, export_estimator_savedmodel

__all__ = [
    "AsyncCheckpointSaverHook", "CrossShardOptimizer", "DeviceAssignment", "InfeedQueue", "InputPipelineConfig", "RunConfig",
    "TPUConfig", "TPUEstimator", "TPUEstimatorSpec", "Topology", "batch_parallel", "bfloat16_scope", "core",
    "cross_replica_sum", "device_assignment", "export_estimator_savedmodel", "infeed_dequeue", "infeed_dequeue_tuple",
    "infeed_enqueue", "infeed_enqueue_tuple", "initialize_system", "outfeed_dequeue", "outfeed_dequeue_tuple", "outfeed_enqueue",
    "outfeed_enqueue_tuple", "outside_compilation", "repeat", "replicate", "rewrite", "shard", "shutdown_system", "while_loop",
]  # fmt: skip
