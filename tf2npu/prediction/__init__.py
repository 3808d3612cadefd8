"""What a step on a chip costs: the document of a prediction or of a profile, and its text, JSON and web page."""
