"""Profiling: what the simulated device did, in the files that the device itself leaves."""
