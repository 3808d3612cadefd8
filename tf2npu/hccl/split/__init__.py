"""The splitting of gradients for communication."""
