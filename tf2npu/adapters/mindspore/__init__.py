"""The folder that a run of a MindSpore program has on its path: `mindspore`, with the names of its releases r1.0 and r1.1."""
