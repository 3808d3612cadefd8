"""Facts about files as wholes: what kind they are, which names they have, how they are used."""
