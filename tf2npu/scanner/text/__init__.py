"""Source as text: encodings, lines, nesting, and the text that a syntax tree gives back."""
