"""Files that the vendor's own tools read and write: dumped tensors and graphs."""
