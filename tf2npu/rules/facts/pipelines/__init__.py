"""Facts about input pipelines."""
