"""The options of a device as scripts set them, made of one table."""
