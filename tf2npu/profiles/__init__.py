"""Reads what a profiler left in a PROF_* tree, a simulated one's or a real host's, of any release, as a document of one step."""
