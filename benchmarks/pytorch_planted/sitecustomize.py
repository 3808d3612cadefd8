"""Seeds Python's and numpy's generators in each process of a run: many scripts seed none. PyTorch's has the same seed by itself."""

import random

import numpy as np

random.seed(1)
np.random.seed(1)
