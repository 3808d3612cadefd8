"""The frameworks whose scripts are converted, a folder each; `base` says what the converter must know of one."""
