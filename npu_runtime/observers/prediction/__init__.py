"""Prediction: what a training step would take on a chip, as a document for `tf2npu predict`."""
