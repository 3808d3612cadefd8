"""TensorFlow 2: the release that runs eagerly, and its adapter npu_device. Names and facts of files are those of TensorFlow 1."""
