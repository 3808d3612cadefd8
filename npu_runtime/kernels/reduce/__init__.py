"""Reductions: over axes, along an axis, by segments, by counts, by rank."""
