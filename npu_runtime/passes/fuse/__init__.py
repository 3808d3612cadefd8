"""Several nodes into one, where that saves memory traffic or arithmetic; the only folder that makes nodes of `kernels/fused`."""
