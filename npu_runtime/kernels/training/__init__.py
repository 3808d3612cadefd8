"""Variables: read, assigned, updated by optimizers."""
