"""The graphs of both sides of a comparison: the device's graph file and the nodes of the reference."""
