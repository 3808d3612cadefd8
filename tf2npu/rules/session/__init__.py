"""Rules about sessions: how they are configured, what they run and when they end."""
