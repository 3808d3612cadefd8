"""Passes that choose the side and the segment of a step in which a node runs, and cut a graph to what a run needs."""
