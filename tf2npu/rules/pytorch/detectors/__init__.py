"""Reports of what PyTorch scripts use that does not run on the NPU, or runs otherwise."""
