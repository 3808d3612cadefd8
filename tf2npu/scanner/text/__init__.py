"""Source as text: its encoding, its lines, edits of it, and whether the result still parses."""
