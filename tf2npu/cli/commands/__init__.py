"""The commands, a file each, with their options, help and examples; what they do is imported when they are called."""
