"""Recorded runs and checks: what a report takes from them, and what a later conversion keeps of them."""
