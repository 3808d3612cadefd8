"""What people decided about findings: the file that says it, and how a conversion carries it out."""
