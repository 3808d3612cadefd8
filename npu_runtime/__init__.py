"""A simulated Ascend device: numpy kernels compute the values, a chip model accounts for memory, placement and time."""
