"""The simulated device below PyTorch: tensors, operators, copies, memory."""
