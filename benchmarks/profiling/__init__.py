"""Profiles of the simulated device in the vendor's public tools and in Perfetto: what they make of our files."""
