"""The simulated clock: when each task of a step would start and end on the chip, and what its memory holds."""
