"""Two-dimensional convolutions and their gradients: the algorithms, and the estimate that chooses one."""
