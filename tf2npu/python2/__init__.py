"""`--python2`: what only Python 2 reads, or reads in another way, is brought to Python 3 before it is converted."""
