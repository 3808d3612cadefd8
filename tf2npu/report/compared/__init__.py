"""Two reports of one project beside each other: what was closed, what is new, what moved."""
