"""The results of a check of a migrated script's accuracy: its record, and the verdict as text, JSON and a page."""
