"""Rules about Estimators, their configs, hooks and checkpoints."""
