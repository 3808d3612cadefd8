"""The graph compiler: its steps in order, what they work on, and the dumps and checks behind each."""
