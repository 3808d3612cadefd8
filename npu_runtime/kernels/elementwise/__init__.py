"""Element-wise ops: arithmetic, comparisons, activations and their gradients, special functions, casts, biases, roundings."""
