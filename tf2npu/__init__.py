"""tf2npu: move TensorFlow 1.x training code to Ascend NPUs, on a machine that has none."""

__version__ = "0.1.0"
