"""Facts about sessions, Estimators and their settings."""
