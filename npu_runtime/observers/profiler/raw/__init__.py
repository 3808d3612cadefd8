"""The raw records of a profile, as the device and its host leave them."""
