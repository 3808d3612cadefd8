"""Facts about scripts of PyTorch that several of its rules ask for."""
