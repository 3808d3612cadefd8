"""The report as web pages: what a page is made from, code with its findings, lists, cards, and one file of all pages."""
