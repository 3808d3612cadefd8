"""The vendor's additions."""
