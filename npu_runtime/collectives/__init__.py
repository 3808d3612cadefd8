"""Collective operations over several ranks, each a process with a simulated device of its own."""
