"""``tf2npu run --devices N``: the same script in N processes, each a rank with a simulated device of its own."""
