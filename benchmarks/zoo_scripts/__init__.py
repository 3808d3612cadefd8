"""Scripts of the vendor's model zoo for TensorFlow 2, their synthetic data, and a process that runs one of them."""
