"""Stacks, tensor arrays and lists, optionals, assertions, collectives, the float status."""
