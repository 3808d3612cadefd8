"""PyTorch: its APIs on each chip, and the names for the NPU of what is CUDA's."""
