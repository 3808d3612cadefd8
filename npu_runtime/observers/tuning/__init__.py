"""AutoTune: searches for what makes operators faster, and the bank that remembers it."""
