"""Decisions about findings: their file, and how they are carried out."""
