"""Importers, a package a framework: the user's graph as ours, and the nodes that stay on the host."""
