"""The trace of a run: its log, and what is kept beside it for a report."""
