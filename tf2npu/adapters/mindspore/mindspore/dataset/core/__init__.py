"""Settings of the pipelines, and the numbers that they draw."""
