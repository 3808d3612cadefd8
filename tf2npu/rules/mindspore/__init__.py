"""The remarks on programs for MindSpore: that they run as they are, and what later releases do not have."""
