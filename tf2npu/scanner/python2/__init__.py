"""What of Python 2 there is in a source, and in a project."""
