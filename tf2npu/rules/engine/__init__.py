"""What the engine asks besides the rules: hooks for a whole file, a fix, or all findings."""
