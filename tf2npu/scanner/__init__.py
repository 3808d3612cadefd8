"""Source code as resolved names and sites: syntax trees, scopes, values, and facts of a project."""
