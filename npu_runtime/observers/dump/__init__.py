"""Data dumps of a run: the tensors of its operators in files, and what checks for overflow find in them."""
