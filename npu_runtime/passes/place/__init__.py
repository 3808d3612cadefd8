"""Which side and which segment of a step a node runs in, and what a run needs at all."""
