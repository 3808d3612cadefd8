"""Packages under the vendor's names that only a run has on its path, so that no real one is hidden; a folder a framework."""
