"""The work that a report leaves to a person: decisions, their effort, the next steps, the verdict and their history."""
