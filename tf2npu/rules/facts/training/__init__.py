"""Training as TensorFlow 2 writes it: functions that are traced, and loops that apply gradients."""
