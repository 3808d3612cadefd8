"""Graph files: what a graph looks like at some stages of its compilation, as the device's own compiler writes it."""
