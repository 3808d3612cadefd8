"""What a check of a migrated script's accuracy found: its record, and the verdict as text, JSON and a page."""
