"""Public scripts for TensorFlow 2, shortened: their texts, data in the place of downloads, and a process that runs them."""
