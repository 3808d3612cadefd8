"""People's decisions about findings: the file that holds them, and how a conversion carries them out."""
