"""The tensors of a dump beside those of a reference: which belong together, how far they are apart, where it begins."""
