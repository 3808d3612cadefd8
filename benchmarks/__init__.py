"""Benchmarks: each prints ratios against a peer in the same run."""

import os

# What is timed is a run that has its compiled loops, where numba is installed, and not the second in which it gets them.
os.environ.setdefault("TF2NPU_NATIVE", "at_once")
