"""Passes: each changes a graph, or chooses an order, and says so as before and after; `npu_runtime.compiler` runs them."""
