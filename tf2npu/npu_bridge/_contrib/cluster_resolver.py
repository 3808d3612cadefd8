"""``tf.contrib.cluster_resolver``: the resolvers, which moved to ``tf.distribute.cluster_resolver``."""

from tensorflow.python.distribute.cluster_resolver.cluster_resolver import (
    ClusterResolver,
    SimpleClusterResolver,
    UnionClusterResolver,
)
from tensorflow.python.distribute.cluster_resolver.gce_cluster_resolver import GCEClusterResolver
from tensorflow.python.distribute.cluster_resolver.kubernetes_cluster_resolver import KubernetesClusterResolver
from tensorflow.python.distribute.cluster_resolver.slurm_cluster_resolver import SlurmClusterResolver
from tensorflow.python.distribute.cluster_resolver.tfconfig_cluster_resolver import TFConfigClusterResolver
from tensorflow.python.distribute.cluster_resolver.tpu_cluster_resolver import TPUClusterResolver

__all__ = [
    "ClusterResolver", "GCEClusterResolver", "KubernetesClusterResolver", "SimpleClusterResolver", "SlurmClusterResolver",
    "TFConfigClusterResolver", "TPUClusterResolver", "UnionClusterResolver",
]  # fmt: skip
