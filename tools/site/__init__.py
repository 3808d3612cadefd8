"""The site of the documents: `make docs` builds it, with pictures of real reports; nothing is loaded from outside."""
