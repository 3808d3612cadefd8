"""TensorFlow 1, with Keras and Estimators in it, and its adapter `npu_bridge`."""
