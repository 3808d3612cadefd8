"""TensorFlow's graph as ours, and the nodes that stay on the host."""
