"""The simulated chip: engines, memory, element types of its ops, variables."""
