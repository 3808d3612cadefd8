"""The texts of a report in the reader's language: the catalogue, and which language it is."""
