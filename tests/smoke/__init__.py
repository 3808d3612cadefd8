"""Tests of smoke runs: scripts that train for some steps on made-up data, and that are never said to train when they did not."""
