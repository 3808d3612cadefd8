"""Cost models: floating-point operations of a node; cycles, bytes and time of a task on a chip."""
