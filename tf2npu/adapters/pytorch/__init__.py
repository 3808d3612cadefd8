"""The folder that a run of a PyTorch script has on its path: `torch_npu`, and its entry point for PyTorch's backends."""
