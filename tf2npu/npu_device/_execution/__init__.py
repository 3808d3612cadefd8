"""Calls of tf.function on the simulated device: what is hooked of the eager context, and what the run log tells of it."""
