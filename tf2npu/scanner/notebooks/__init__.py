"""Notebooks: which files are some, their JSON, and their code cells as one program."""
