"""Arrays filled, joined, cut, gathered, scattered and reshaped."""
