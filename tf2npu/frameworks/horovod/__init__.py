"""Horovod, with which scripts train in several processes."""
