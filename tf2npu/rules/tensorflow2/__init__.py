"""Rules for scripts of TensorFlow 2, which run eagerly and use the NPU by npu_device."""
