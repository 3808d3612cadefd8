"""Code for CUDA, looked at without the converter: its names, the edits of a conversion, what the vendor's converter does."""
