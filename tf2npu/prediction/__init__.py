"""The cost of a step on a chip: the document of a prediction or of a profile, and its text, JSON and web page."""
