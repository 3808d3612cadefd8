"""Pools of two dimensions, their gradients, and morphological dilation."""
