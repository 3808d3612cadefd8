"""The device's own operators, each expressed in operators that any TensorFlow has."""
