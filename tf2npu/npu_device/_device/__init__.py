"""The opened device: which one, its workers, and what its being the default changes in TensorFlow."""
