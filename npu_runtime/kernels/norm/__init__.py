"""Batch and local response normalisation, and their gradients."""
