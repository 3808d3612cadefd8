"""Synthetic data and runs of migrated scripts that others wrote; see benchmarks/migrated_scripts.py."""
