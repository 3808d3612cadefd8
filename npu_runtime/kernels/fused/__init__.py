"""Kernels of the ops that only `passes/fuse` makes, in the place of several nodes."""
