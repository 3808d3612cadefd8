"""How gradients are cut for communication."""
