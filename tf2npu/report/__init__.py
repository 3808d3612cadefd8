"""The migration report as HTML, JSON, SARIF, text and annotations."""
