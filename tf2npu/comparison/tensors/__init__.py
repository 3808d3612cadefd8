"""The tensors of both sides of a comparison: where they are stored, their layouts, and sums over them."""
