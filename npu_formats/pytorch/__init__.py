"""PyTorch on each chip: facts that the vendor publishes of APIs, operators and their limits; no torch is needed to read them."""
