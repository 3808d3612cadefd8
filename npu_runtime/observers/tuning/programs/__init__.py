"""Tuning of programs while they are compiled: who asks for it, the rules of the bank, and what it tells."""
