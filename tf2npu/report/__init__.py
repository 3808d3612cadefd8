"""The migration report as HTML, JSON, SARIF, Markdown, tables, text and annotations."""
