"""CUDA's names in a process that has NPUs."""
