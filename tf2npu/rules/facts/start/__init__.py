"""Facts about where a script starts, and where it puts the NPU into use."""
