"""Readers of the vendor's published lists of PyTorch's APIs and operators, for tools/build_pytorch_support.py."""
