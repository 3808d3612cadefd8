"""The geometry of windows over an image: extents, padding, strides, and columns sorted by their phase of the stride."""
