"""The evidence of runs and checks on a report's findings, and how their records are written and read."""
