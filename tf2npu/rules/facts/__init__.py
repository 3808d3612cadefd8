"""Facts about a script that several rules share, and edits that several rules make. No file here holds a rule."""
