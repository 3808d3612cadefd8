"""Scopes of operations, under the vendor's path."""
