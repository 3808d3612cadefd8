"""Notebooks: their JSON, their cells as one program, and edits back into cells."""
