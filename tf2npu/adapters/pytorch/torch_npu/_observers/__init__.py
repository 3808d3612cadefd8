"""Records of runs: the log, the report, predictions and profiles, of operators that the device tells of."""
