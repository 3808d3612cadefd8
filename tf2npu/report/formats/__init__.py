"""Forms of a report that are no web page: text, JSON, SARIF, Markdown, tables, annotations, and the lists of rules and APIs."""
