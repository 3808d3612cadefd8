"""Rules about APIs whose names are made or hidden in a way that the converter cannot follow."""
