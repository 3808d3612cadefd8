"""PyTorch: names, kinds of objects, and its adapter torch_npu."""
