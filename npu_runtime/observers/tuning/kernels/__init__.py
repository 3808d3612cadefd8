"""Tuning of the kernels of the simulated device for the machine that it runs on."""
