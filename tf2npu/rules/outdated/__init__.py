"""Rules about names and syntax that belong to another release of Python, TensorFlow or a library."""
