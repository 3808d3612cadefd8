"""Loops that numba compiles where it is installed (the extra `native`): each gives the bits of the numpy code that it stands for.

So it makes no difference to a result whether a loop is compiled, nor when: kernels ask it first, and go on without it.
"""
