"""Softmax, cross entropies and CTC."""
