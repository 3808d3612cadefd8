"""Rules for scripts of PyTorch: devices, names of CUDA, several devices, and what a person has to look at."""
