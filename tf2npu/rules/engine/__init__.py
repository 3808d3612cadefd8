"""Hooks that the engine asks besides the rules: for a whole file, a fix, or all findings."""
