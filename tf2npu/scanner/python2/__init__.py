"""Signs of Python 2 in a source, and in a project."""
