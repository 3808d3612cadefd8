"""Remarks on what stays as it is in PyTorch scripts, and what NPUs have in its place."""
