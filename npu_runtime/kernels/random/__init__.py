"""Random numbers: Philox, and TensorFlow's ways to draw from it."""
