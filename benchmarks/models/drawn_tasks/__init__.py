"""Training steps of six kinds of tasks, of drawn sizes: the second generator of `benchmarks.drawn_networks`."""
