"""Seeds Python's and numpy's generators in each process of a run, as many scripts do not."""

import random

import numpy as np

random.seed(1)
np.random.seed(1)
