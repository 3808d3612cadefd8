"""Rules about devices, XLA and libraries that belong to another accelerator."""
