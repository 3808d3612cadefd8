"""Code of Python 2 that Python 3 reads, and that ends or does something else when it runs."""
