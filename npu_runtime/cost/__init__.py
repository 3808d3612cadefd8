"""What a node costs: floating-point operations and bytes."""
