"""Shape inference, constant folding, and the removal of what no result needs."""
