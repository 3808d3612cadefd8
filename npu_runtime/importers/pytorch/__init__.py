"""The door of PyTorch: recorded calls of its operators become operators of the chip. It imports no torch."""
