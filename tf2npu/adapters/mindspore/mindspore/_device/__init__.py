"""The way from a program's cells to graphs of the simulated device; no name of MindSpore's is here."""
