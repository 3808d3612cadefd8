"""What the tool, the shims and the simulated device tell each other: it imports none of them."""
