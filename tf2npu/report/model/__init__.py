"""The contents of a report as data, whatever shows it: files, findings, places, and the form of report.json."""
