"""Launchers of eight ranks that the vendor has published, what they need, and how they are run."""
