"""Source that only Python 2 reads, and projects of it."""
