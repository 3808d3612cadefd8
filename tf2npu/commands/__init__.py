"""The work behind each command: it composes the rooms below, tells the user, and returns the exit code."""
